//! The assignor's group, and the check that what comes back is an assignment of it.

use std::collections::{BTreeMap, BTreeSet};

use super::error_answer;
use crate::{
    base::{MemberId, TopicName},
    plugin::{
        bindings::assignor::exports::klamm::plugin::assignor as wit,
        failure::CallFailure,
        hook::{Assignments, GroupSnapshot, MemberSnapshot, PartitionSnapshot, TopicSnapshot},
    },
};

/// Owns the lists that the WIT's group borrows.
pub(in crate::plugin) struct GroupColumns<'a> {
    members: Vec<MemberColumns<'a>>,
    topics: Vec<TopicColumns<'a>>,
}

struct MemberColumns<'a> {
    of: &'a MemberSnapshot,
    topics: Vec<&'a str>,
    owned: Vec<(&'a str, Vec<u32>)>,
}

struct TopicColumns<'a> {
    name: &'a str,
    racks: Vec<Vec<&'a str>>,
    of: &'a TopicSnapshot,
}

/// Calls `ask` with the group as the WIT has it: borrowed lists of borrowed lists.
pub(in crate::plugin) fn group<T>(
    snapshot: &GroupSnapshot,
    ask: impl FnOnce(wit::Group<'_>) -> T,
) -> T {
    let columns = GroupColumns::new(snapshot);
    let owned: Vec<Vec<wit::TopicPartitionsParam<'_>>> =
        columns.members.iter().map(MemberColumns::owned).collect();
    let members: Vec<wit::Member<'_>> =
        columns.members.iter().zip(&owned).map(|(member, owned)| member.wit(owned)).collect();
    let partitions: Vec<Vec<wit::Partition<'_>>> =
        columns.topics.iter().map(TopicColumns::partitions).collect();
    let topics: Vec<wit::Topic<'_>> = columns
        .topics
        .iter()
        .zip(&partitions)
        .map(|(topic, partitions)| wit::Topic { name: topic.name, partitions })
        .collect();
    ask(wit::Group { id: snapshot.group_id.as_str(), members: &members, topics: &topics })
}

impl<'a> GroupColumns<'a> {
    fn new(snapshot: &'a GroupSnapshot) -> Self {
        Self {
            members: snapshot.members.iter().map(MemberColumns::new).collect(),
            topics: snapshot.topics.iter().map(TopicColumns::new).collect(),
        }
    }
}

impl<'a> MemberColumns<'a> {
    fn new(of: &'a MemberSnapshot) -> Self {
        let mut topics: Vec<&str> = of.topics.iter().map(TopicName::as_str).collect();
        topics.sort_unstable();
        let owned = of.owned.iter().map(|(topic, partitions)| {
            (topic.as_str(), partitions.iter().filter_map(|&it| u32::try_from(it).ok()).collect())
        });
        Self { of, topics, owned: owned.collect() }
    }

    fn owned(&self) -> Vec<wit::TopicPartitionsParam<'_>> {
        self.owned
            .iter()
            .map(|(topic, partitions)| wit::TopicPartitionsParam { topic, partitions })
            .collect()
    }

    fn wit<'b>(&'b self, owned: &'b [wit::TopicPartitionsParam<'b>]) -> wit::Member<'b> {
        wit::Member {
            id: self.of.member_id.as_str(),
            instance_id: self.of.instance_id.as_deref(),
            rack: self.of.rack.as_deref(),
            client_id: &self.of.client_id,
            topics: &self.topics,
            user_data: &self.of.user_data,
            owned,
        }
    }
}

impl<'a> TopicColumns<'a> {
    fn new(of: &'a TopicSnapshot) -> Self {
        let racks = of
            .partitions
            .iter()
            .map(|partition| partition.racks.iter().map(String::as_str).collect())
            .collect();
        Self { name: of.name.as_str(), racks, of }
    }

    fn partitions(&self) -> Vec<wit::Partition<'_>> {
        self.of.partitions.iter().zip(&self.racks).map(|(it, racks)| partition(it, racks)).collect()
    }
}

fn partition<'a>(of: &PartitionSnapshot, racks: &'a [&'a str]) -> wit::Partition<'a> {
    wit::Partition {
        index: u32::try_from(of.index).unwrap_or(0),
        leader: of.leader,
        racks,
        lag: of.lag,
        log_end_offset: of.log_end_offset,
        byte_rate: of.byte_rate,
    }
}

/// Each partition of each topic that a member subscribes to, exactly once, to a known member that subscribes to it.
pub(in crate::plugin) fn assignments(
    answer: Result<Vec<wit::Assignment>, String>,
    snapshot: &GroupSnapshot,
) -> Result<Assignments, CallFailure> {
    let answer = answer.map_err(error_answer)?;
    let mut check = Check::new(snapshot);
    for assignment in &answer {
        check.member(assignment)?;
    }
    check.finish()
}

/// Takes each given partition from those still to be given.
struct Check<'a> {
    subscriptions: BTreeMap<&'a str, BTreeSet<&'a str>>,
    left: BTreeMap<&'a str, BTreeSet<i32>>,
    given: Assignments,
}

impl<'a> Check<'a> {
    fn new(snapshot: &'a GroupSnapshot) -> Self {
        let subscriptions: BTreeMap<&str, BTreeSet<&str>> = snapshot
            .members
            .iter()
            .map(|it| (it.member_id.as_str(), it.topics.iter().map(TopicName::as_str).collect()))
            .collect();
        let is_wanted = |topic: &str| subscriptions.values().any(|it| it.contains(topic));
        let left = snapshot
            .topics
            .iter()
            .filter(|topic| is_wanted(topic.name.as_str()))
            .map(|topic| {
                (topic.name.as_str(), topic.partitions.iter().map(|it| it.index).collect())
            })
            .collect();
        let given =
            snapshot.members.iter().map(|it| (it.member_id.clone(), BTreeMap::new())).collect();
        Self { subscriptions, left, given }
    }

    fn member(&mut self, assignment: &wit::Assignment) -> Result<(), CallFailure> {
        let member = assignment.member_id.as_str();
        if !self.subscriptions.contains_key(member) {
            return Err(CallFailure::malformed(format!("named the unknown member {member:?}")));
        }
        for topic in &assignment.partitions {
            self.topic(member, &topic.topic, &topic.partitions)?;
        }
        Ok(())
    }

    fn topic(&mut self, member: &str, topic: &str, partitions: &[u32]) -> Result<(), CallFailure> {
        if partitions.is_empty() {
            return Ok(());
        }
        if !self.subscriptions.get(member).is_some_and(|it| it.contains(topic)) {
            return Err(CallFailure::malformed(format!(
                "gave {member:?} partitions of {topic:?}, to which it does not subscribe"
            )));
        }
        for &partition in partitions {
            self.give(member, topic, partition)?;
        }
        Ok(())
    }

    fn give(&mut self, member: &str, topic: &str, partition: u32) -> Result<(), CallFailure> {
        let index = i32::try_from(partition).unwrap_or(-1);
        if !self.left.get_mut(topic).is_some_and(|left| left.remove(&index)) {
            return Err(CallFailure::malformed(format!(
                "gave {topic}-{partition}, which does not exist or is given already"
            )));
        }
        if let Some(topics) = self.given.get_mut(&MemberId::from(member)) {
            topics.entry(TopicName::from(topic)).or_default().push(index);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Assignments, CallFailure> {
        if let Some((topic, left)) = self.left.iter().find(|(_, left)| !left.is_empty()) {
            return Err(CallFailure::malformed(format!(
                "left {} partitions of {topic:?} to nobody",
                left.len()
            )));
        }
        for partitions in self.given.values_mut().flat_map(BTreeMap::values_mut) {
            partitions.sort_unstable();
        }
        Ok(self.given)
    }
}
