//! The values of records of consumer groups (KIP-848), key versions 3 to 8 and 16.

use std::{collections::BTreeSet, sync::Arc};

use bytes::Bytes;

use crate::{
    base::{PluginName, TimestampMs, TopicName},
    group::consumer::TopicPartitions,
};

/// Key version 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupMetadata {
    pub epoch: i32,
    /// Of the topics subscribed to (KIP-1101); 0 before it is known.
    pub metadata_hash: i64,
}

/// Key version 5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerMemberMetadata {
    pub group_instance_id: Option<Arc<str>>,
    pub rack_id: Option<Arc<str>>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    pub subscribed_topic_names: BTreeSet<TopicName>,
    pub subscribed_topic_regex: Option<Arc<str>>,
    pub rebalance_timeout_ms: i32,
    pub server_assignor: Option<PluginName>,
    /// Set for a member that speaks the classic protocol.
    pub classic: Option<ClassicMemberMetadata>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicMemberMetadata {
    pub session_timeout_ms: i32,
    /// Names, with each one's subscription.
    pub protocols: Vec<(Arc<str>, Bytes)>,
}

/// Key version 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentAssignment {
    pub member_epoch: i32,
    pub previous_member_epoch: i32,
    pub state: MemberState,
    pub assigned: TopicPartitions,
    pub pending_revocation: TopicPartitions,
}

/// Where a member stands on its way to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// It has all of its target.
    Stable,
    /// It must give partitions up before it gets to the next epoch.
    UnrevokedPartitions,
    /// It waits for partitions that others have not given up yet.
    UnreleasedPartitions,
    /// Written by a newer version.
    Unknown,
}

/// Key version 16: what a regular expression matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRegex {
    pub topics: BTreeSet<TopicName>,
    /// Of the metadata image that it was matched against.
    pub version: i64,
    pub timestamp: TimestampMs,
}
