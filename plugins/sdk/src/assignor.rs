//! The assignor hook: which member of a consumer group reads which partition.
//!
//! The shapes are those of `wit/assignor.wit`, where their meaning stands: an assignor is called rarely
//! and its data is small, so nothing is flattened.

use crate::Description;

/// Decides which member reads which partition.
pub trait Assignor {
    /// Must not depend on settings.
    fn describe() -> Description
    where
        Self: Sized;

    /// Makes an instance. `settings` is the table `[config]` of the plugin's TOML file as JSON text,
    /// `{}` without one; an error refuses the load, with its text shown to the operator.
    fn configure(settings: &str) -> Result<Self, String>
    where
        Self: Sized;

    /// Gives every partition of every topic to exactly one member that subscribes to it. Members that
    /// get nothing may be left out.
    fn assign(&mut self, group: &Group) -> Result<Vec<Assignment>, String>;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicPartitions {
    pub topic: String,
    pub partitions: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    pub id: String,
    /// `group.instance.id` of a static member (KIP-345).
    pub instance_id: Option<String>,
    /// `client.rack` (KIP-881).
    pub rack: Option<String>,
    pub client_id: String,
    /// Topics that it subscribes to, sorted. Some may not exist.
    pub topics: Vec<String>,
    /// What the client's own assignor sent along; opaque.
    pub user_data: Vec<u8>,
    /// What it owns now, or was given last.
    pub owned: Vec<TopicPartitions>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partition {
    pub index: u32,
    /// Broker id; -1 when there is none.
    pub leader: i32,
    /// Racks of the replicas; empty when brokers have none.
    pub racks: Vec<String>,
    /// In records; -1 without a committed offset.
    pub lag: i64,
    pub log_end_offset: i64,
    /// Bytes appended a second, over the last minute or so.
    pub byte_rate: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topic {
    pub name: String,
    /// Sorted by index.
    pub partitions: Vec<Partition>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    pub id: String,
    /// Sorted by id.
    pub members: Vec<Member>,
    /// All existing topics that any member subscribes to, sorted by name.
    pub topics: Vec<Topic>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    pub member_id: String,
    pub partitions: Vec<TopicPartitions>,
}

impl Member {
    pub fn subscribes_to(&self, topic: &str) -> bool {
        self.topics.iter().any(|subscribed| subscribed == topic)
    }
}

impl Assignment {
    pub fn new(member: &Member) -> Self {
        Self { member_id: member.id.clone(), partitions: Vec::new() }
    }

    /// Adds one partition; the list of its topic grows if it is the last one.
    pub fn push(&mut self, topic: &str, partition: u32) {
        match self.partitions.last_mut() {
            Some(last) if last.topic == topic => last.partitions.push(partition),
            _ => self
                .partitions
                .push(TopicPartitions { topic: topic.into(), partitions: vec![partition] }),
        }
    }
}
