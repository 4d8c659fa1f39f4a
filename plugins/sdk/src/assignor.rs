//! The assignor hook: which member of a consumer group reads which partition.
//!
//! The shapes are those of `wit/assignor.wit`, where their meaning stands: an assignor is called rarely
//! and its data is small, so nothing is flattened.

mod validity;

use crate::Description;
use std::cmp::Ordering;
pub use validity::check;

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

impl Group {
    /// The members in the order in which Kafka's own assignors line them up: static members first, by
    /// `group.instance.id`, so that a restart under a new member id changes nothing; then the others by id.
    pub fn members_in_order(&self) -> Vec<&Member> {
        let mut members: Vec<&Member> = self.members.iter().collect();
        members.sort_by(|one, other| one.compare(other));
        members
    }
}

impl Group {
    /// For each topic its subscribers, as places in `members`, ascending. Relies on topics being sorted, as the broker
    /// hands them over: a walk along both lists takes far less than a search for each pair.
    pub fn subscribers(&self, members: &[&Member]) -> Vec<Vec<usize>> {
        let mut subscribers = vec![Vec::new(); self.topics.len()];
        for (place, member) in members.iter().enumerate() {
            let mut topics = self.topics.iter().zip(&mut subscribers).peekable();
            for name in &member.topics {
                while topics.next_if(|(topic, _)| topic.name < *name).is_some() {}
                if let Some((_, of_topic)) = topics.next_if(|(topic, _)| topic.name == *name) {
                    of_topic.push(place);
                }
            }
        }
        subscribers
    }
}

impl Member {
    fn compare(&self, other: &Self) -> Ordering {
        match (&self.instance_id, &other.instance_id) {
            (Some(one), Some(other)) => compare_as_java(one, other),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => compare_as_java(&self.id, &other.id),
        }
    }

    /// Relies on `topics` being sorted, as the broker hands them over.
    pub fn subscribes_to(&self, topic: &str) -> bool {
        self.topics.binary_search_by(|subscribed| subscribed.as_str().cmp(topic)).is_ok()
    }
}

/// Java compares UTF-16 units, which differs from UTF-8 bytes beyond the basic plane.
fn compare_as_java(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: &str, instance_id: Option<&str>) -> Member {
        Member { id: id.into(), instance_id: instance_id.map(Into::into), ..Member::default() }
    }

    #[test]
    fn static_members_come_first_by_instance_id() {
        let members = vec![
            member("a", None),
            member("b", Some("2")),
            member("c", Some("1")),
            member("\u{ffff}", None),
            member("\u{10000}", None),
        ];
        let group = Group { members, ..Group::default() };
        let order: Vec<&str> = group.members_in_order().iter().map(|m| m.id.as_str()).collect();
        assert_eq!(order, ["c", "b", "a", "\u{10000}", "\u{ffff}"]);
    }

    #[test]
    fn each_topic_has_those_who_subscribe_to_it() {
        let subscriber = |id: &str, topics: &[&str]| Member {
            topics: topics.iter().map(|topic| (*topic).into()).collect(),
            ..member(id, None)
        };
        let members = vec![
            subscriber("a", &["gone", "t", "u"]),
            subscriber("b", &[]),
            subscriber("c", &["a", "u", "z"]),
        ];
        let topic = |name: &str| Topic { name: name.into(), partitions: Vec::new() };
        let group =
            Group { members, topics: ["a", "t", "u"].map(topic).to_vec(), ..Group::default() };
        let members: Vec<&Member> = group.members.iter().collect();
        assert_eq!(group.subscribers(&members), [vec![2], vec![0], vec![0, 2]]);
    }

    #[test]
    fn partitions_of_a_topic_share_a_list() {
        let mut assignment = Assignment::new(&member("a", None));
        for (topic, partition) in [("t", 1), ("t", 2), ("u", 0)] {
            assignment.push(topic, partition);
        }
        let lists: Vec<_> =
            assignment.partitions.iter().map(|list| list.partitions.len()).collect();
        assert_eq!(lists, [2, 1]);
    }
}
