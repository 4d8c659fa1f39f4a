//! What members ask, with everything that a pure room cannot find out for itself.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use super::{Assignments, Protocol, TargetInputs};
use crate::{
    base::{GroupId, MemberId, PluginName},
    group::AskReason,
};

#[derive(Clone, Debug)]
pub struct JoinRequest {
    pub group_id: GroupId,
    /// Empty for a new member.
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    pub session_timeout_ms: i32,
    pub rebalance_timeout_ms: i32,
    pub protocol_type: Arc<str>,
    pub protocols: Vec<Protocol>,
    /// Version 4 and above: a dynamic member gets its id first and joins with it (KIP-394).
    pub requires_known_member_id: bool,
    /// Version 9 and above: a static leader that comes back may be told to skip the assignment (KIP-814).
    pub supports_skip_assignment: bool,
    /// What a new member will be called, made from the client's id and random bits.
    pub new_member_id: MemberId,
    /// The group's effective `klamm.assignor`.
    pub assignor: Option<PluginName>,
}

impl JoinRequest {
    /// Of all protocols.
    pub fn metadata_bytes(&self) -> usize {
        self.protocols.iter().map(|it| it.metadata.len()).sum()
    }
}

#[derive(Clone, Debug)]
pub struct SyncRequest {
    pub group_id: GroupId,
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    pub generation_id: i32,
    /// Checked when present (version 5, KIP-559).
    pub protocol_type: Option<Arc<str>>,
    pub protocol_name: Option<Arc<str>>,
    /// The leader's assignment; empty from the others.
    pub assignments: BTreeMap<MemberId, Bytes>,
    /// The group's effective `klamm.assignor`.
    pub assignor: Option<PluginName>,
}

#[derive(Clone, Debug)]
pub struct HeartbeatRequest {
    pub group_id: GroupId,
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    pub generation_id: i32,
}

/// One member of a LeaveGroup. An operator removes a static member by its instance id alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeavingMember {
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
}

/// What came of a question to a plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignorAnswer {
    pub group_id: GroupId,
    pub generation_id: i32,
    pub question: u64,
    pub reason: AskReason,
    /// What the plugin was told.
    pub inputs: TargetInputs,
    /// Checked against the inputs; `Err` says why there is none.
    pub result: Result<Assignments, String>,
}
