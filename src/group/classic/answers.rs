//! What members are told.

use std::sync::Arc;

use bytes::Bytes;

use crate::base::MemberId;

/// A generation as a member learns of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    pub generation_id: i32,
    pub protocol_type: Option<Arc<str>>,
    pub protocol_name: Option<Arc<str>>,
    pub leader: MemberId,
    pub member_id: MemberId,
    /// The leader need not assign: nothing has changed (KIP-814).
    pub skip_assignment: bool,
    /// Everyone, for the leader; empty for the others.
    pub members: Vec<JoinedMember>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedMember {
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    pub metadata: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synced {
    pub protocol_type: Option<Arc<str>>,
    pub protocol_name: Option<Arc<str>>,
    pub assignment: Bytes,
}
