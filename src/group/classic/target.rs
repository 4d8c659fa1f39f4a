//! The target of a group that a plugin assigns: who should read what, and what that was decided from.

use std::{collections::BTreeMap, sync::Arc};

use crate::base::{MemberId, PluginName, TopicName};

/// Partitions of each member.
pub type Assignments = BTreeMap<MemberId, BTreeMap<TopicName, Vec<i32>>>;

/// What a target depends on. While it stays the same, a cooperative group works towards the same target
/// over as many rebalances as that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetInputs {
    pub assignor: PluginName,
    /// Of the plugin's file.
    pub sha256: Arc<str>,
    pub subscriptions: BTreeMap<MemberId, Vec<TopicName>>,
    /// Partition counts of the topics that exist.
    pub partitions: BTreeMap<TopicName, i32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub inputs: TargetInputs,
    pub assignments: Assignments,
}

/// Without empty topics and members, partitions sorted: two that mean the same are equal.
pub(super) fn normal(assignments: &Assignments) -> Assignments {
    let mut normal = assignments.clone();
    for topics in normal.values_mut() {
        for partitions in topics.values_mut() {
            partitions.sort_unstable();
        }
        topics.retain(|_, it| !it.is_empty());
    }
    normal.retain(|_, it| !it.is_empty());
    normal
}
