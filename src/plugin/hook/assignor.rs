//! The assignor hook: which member of a group reads which partition.

use std::collections::BTreeMap;

use crate::base::{GroupId, MemberId, TopicName};

/// A group as its coordinator sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSnapshot {
    pub group_id: GroupId,
    /// Sorted by id.
    pub members: Vec<MemberSnapshot>,
    /// Sorted by name.
    pub topics: Vec<TopicSnapshot>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MemberSnapshot {
    pub member_id: MemberId,
    pub instance_id: Option<String>,
    pub rack: Option<String>,
    pub client_id: String,
    pub topics: Vec<TopicName>,
    pub user_data: Vec<u8>,
    pub owned: BTreeMap<TopicName, Vec<i32>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TopicSnapshot {
    pub name: TopicName,
    pub partitions: Vec<PartitionSnapshot>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PartitionSnapshot {
    pub index: i32,
    /// −1 for none.
    pub leader: i32,
    pub racks: Vec<String>,
    /// −1 without a committed offset.
    pub lag: i64,
    pub log_end_offset: i64,
    /// Bytes a second.
    pub byte_rate: f64,
}

/// Partitions of each member; every member of the snapshot is in it.
pub type Assignments = BTreeMap<MemberId, BTreeMap<TopicName, Vec<i32>>>;

/// The plugin failed (trap, timeout, `err`, or an answer that is no assignment of this snapshot): the group keeps what it had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("assignor {plugin}: {reason}")]
pub struct AssignFailure {
    pub plugin: String,
    pub reason: String,
}
