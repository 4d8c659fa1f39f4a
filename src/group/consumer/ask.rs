//! Questions to assignor plugins on behalf of consumer groups, and what came of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::assignor::{Assignments, GroupSpec};
use crate::base::{GroupId, MemberId, PluginName};

/// What a shard cannot find out for itself, as it is when an event happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignors {
    /// The group's effective `klamm.assignor`.
    pub configured: Option<PluginName>,
    /// Plugins that are loaded; those that are built in are not in it.
    pub loaded: Arc<BTreeSet<PluginName>>,
}

/// A question to an assignor plugin. The answer comes back with the same epoch and question number; a later question makes
/// it stale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerAsk {
    pub group_id: GroupId,
    pub group_epoch: i32,
    pub question: u64,
    pub assignor: PluginName,
    pub spec: Arc<GroupSpec>,
    /// What a plugin is told of members besides the spec.
    pub client_ids: BTreeMap<MemberId, Arc<str>>,
}

/// What came of a question to a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerAnswer {
    pub group_id: GroupId,
    pub group_epoch: i32,
    pub question: u64,
    pub assignor: PluginName,
    /// Checked against the spec: members and partitions of it alone, no partition twice, every member in it. `Err` says why
    /// there is none.
    pub result: Result<Assignments, String>,
}
