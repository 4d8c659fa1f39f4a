//! What members of a consumer group ask, and what they are told (`ConsumerGroupHeartbeat`, `ConsumerGroupDescribe`).

use std::{collections::BTreeSet, fmt, sync::Arc};

use super::{Assignors, TopicPartitions};
use crate::{
    base::{GroupId, MemberId, PluginName, TopicName},
    config::group::ConsumerTimes,
};

/// `None` for what has not changed since the member's last heartbeat.
#[derive(Clone, Debug)]
pub struct ConsumerHeartbeatRequest {
    pub group_id: GroupId,
    /// Made by the client from version 1 on; by the handler when a join of version 0 leaves it empty.
    pub member_id: MemberId,
    /// 0 to join, -1 to leave, -2 for a static member that leaves for a while.
    pub member_epoch: i32,
    pub group_instance_id: Option<Arc<str>>,
    pub rack_id: Option<Arc<str>>,
    /// Milliseconds a member has to give partitions up.
    pub rebalance_timeout_ms: Option<i32>,
    pub subscribed_topic_names: Option<BTreeSet<TopicName>>,
    /// RE2 syntax, matched by the coordinator (version 1); an empty text ends the subscription.
    pub subscribed_topic_regex: Option<Arc<str>>,
    /// `group.remote.assignor`: built in, or a plugin.
    pub server_assignor: Option<PluginName>,
    /// What the member owns now.
    pub topic_partitions: Option<TopicPartitions>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    pub api_version: i16,
    /// Filled in by the driver.
    pub assignors: Assignors,
    /// Of the group; filled in by the driver.
    pub times: ConsumerTimes,
    /// Of the member's principal; filled in by the handler.
    pub may_describe: TopicFilter,
}

/// The topics that a regular expression may find: a member learns of no others.
#[derive(Clone)]
pub struct TopicFilter(pub Arc<dyn Fn(&TopicName) -> bool + Send + Sync>);

impl TopicFilter {
    pub fn all() -> Self {
        Self(Arc::new(|_| true))
    }

    pub fn admits(&self, topic: &TopicName) -> bool {
        (self.0)(topic)
    }
}

impl fmt::Debug for TopicFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TopicFilter")
    }
}

/// The coordinator's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerHeartbeat {
    pub member_id: MemberId,
    pub member_epoch: i32,
    pub heartbeat_interval_ms: i32,
    /// All that the member may own from now on; `None` if nothing changed since it was told last.
    pub assignment: Option<TopicPartitions>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsumerGroupState {
    /// No members; perhaps offsets.
    Empty,
    /// The target assignment is older than the group's epoch.
    Assigning,
    /// Members are on their way to their targets.
    Reconciling,
    Stable,
}

impl ConsumerGroupState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Assigning => "Assigning",
            Self::Reconciling => "Reconciling",
            Self::Stable => "Stable",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedConsumerGroup {
    pub state: ConsumerGroupState,
    pub group_epoch: i32,
    pub assignment_epoch: i32,
    pub assignor_name: Arc<str>,
    pub members: Vec<DescribedConsumerMember>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedConsumerMember {
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    pub rack_id: Option<Arc<str>>,
    pub member_epoch: i32,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    pub subscribed_topic_names: BTreeSet<TopicName>,
    pub subscribed_topic_regex: Option<Arc<str>>,
    pub assignment: TopicPartitions,
    pub target_assignment: TopicPartitions,
    /// -1 unknown, 0 classic, 1 consumer (version 1).
    pub member_type: i8,
}
