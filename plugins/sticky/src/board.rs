//! Who holds what while an assignment is being made.
//!
//! Members and topics are numbers here: places in the group's order and in its list of topics.

use klamm_plugin::assignor::{Assignment, Group, Member, Topic, TopicPartitions};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

pub(crate) struct Board<'g> {
    group: &'g Group,
    members: Vec<&'g Member>,
    /// For each topic its subscribers, ascending.
    subscribers: Vec<Vec<usize>>,
    /// For each topic the partitions that nobody holds.
    open: Vec<BTreeSet<u32>>,
    held: Vec<Held>,
}

/// What one member holds.
#[derive(Default)]
struct Held {
    load: usize,
    topics: BTreeMap<usize, Stack>,
}

/// A member's partitions of one topic. The last one leaves first, and kept ones lie at the bottom.
#[derive(Default)]
struct Stack {
    kept: usize,
    partitions: Vec<u32>,
}

impl Stack {
    fn has_new(&self) -> bool {
        self.partitions.len() > self.kept
    }
}

impl<'g> Board<'g> {
    pub(crate) fn new(group: &'g Group) -> Self {
        let members = group.members_in_order();
        Self {
            group,
            subscribers: group.subscribers(&members),
            open: group.topics.iter().map(indexes).collect(),
            held: members.iter().map(|_| Held::default()).collect(),
            members,
        }
    }

    /// Each member keeps what it owns and may still have. Of two that claim one partition the first in
    /// the group's order keeps it.
    pub(crate) fn keep_owned(&mut self) {
        let members = self.members.clone();
        for (member, owner) in members.into_iter().enumerate() {
            for owned in owner.owned.iter().filter(|owned| owner.subscribes_to(&owned.topic)) {
                self.keep_topic(member, owned);
            }
        }
    }

    fn keep_topic(&mut self, member: usize, owned: &TopicPartitions) {
        let found = self.group.topics.binary_search_by(|topic| topic.name.cmp(&owned.topic));
        let Ok(topic) = found else { return };
        for partition in &owned.partitions {
            if self.open.get_mut(topic).is_some_and(|open| open.remove(partition)) {
                self.push(member, topic, *partition);
                self.stack(member, topic).kept += 1;
            }
        }
    }

    /// What nobody holds goes to the least loaded subscriber, topics with the fewest subscribers first:
    /// they have the least choice.
    pub(crate) fn place_rest(&mut self) {
        let mut topics: Vec<usize> = (0..self.open.len()).collect();
        topics.sort_by_key(|topic| self.subscribers_of(*topic).len());
        for topic in topics {
            self.place_topic(topic);
        }
    }

    /// Among equally loaded ones the member with the fewest partitions of this topic is next, so that
    /// a busy topic spreads.
    fn place_topic(&mut self, topic: usize) {
        let place =
            |member: &usize| Reverse((self.load(*member), self.count(*member, topic), *member));
        let mut next: BinaryHeap<_> = self.subscribers_of(topic).iter().map(place).collect();
        let open = self.open.get_mut(topic).map(std::mem::take).unwrap_or_default();
        for partition in open {
            let Some(Reverse((load, count, member))) = next.pop() else { return };
            self.push(member, topic, partition);
            next.push(Reverse((load + 1, count + 1, member)));
        }
    }

    pub(crate) fn members(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn topics(&self) -> usize {
        self.subscribers.len()
    }

    pub(crate) fn load(&self, member: usize) -> usize {
        self.held.get(member).map_or(0, |held| held.load)
    }

    pub(crate) fn subscribers_of(&self, topic: usize) -> &[usize] {
        self.subscribers.get(topic).map_or(&[], Vec::as_slice)
    }

    /// Topics of which the member can give a partition; first those where it need not give a kept one.
    pub(crate) fn topics_to_give(&self, member: usize) -> Vec<usize> {
        let topics = self.held.get(member).into_iter().flat_map(|held| &held.topics);
        let mut filled: Vec<_> = topics.filter(|(_, stack)| !stack.partitions.is_empty()).collect();
        filled.sort_by_key(|(_, stack)| !stack.has_new());
        filled.into_iter().map(|(topic, _)| *topic).collect()
    }

    pub(crate) fn shift(&mut self, from: usize, to: usize, topic: usize) {
        let stack = self.stack(from, topic);
        let Some(partition) = stack.partitions.pop() else { return };
        stack.kept = stack.kept.min(stack.partitions.len());
        self.add_load(from, -1);
        self.push(to, topic, partition);
    }

    pub(crate) fn assignments(self) -> Vec<Assignment> {
        let names = &self.group.topics;
        self.members
            .iter()
            .zip(self.held)
            .map(|(member, held)| held.assignment(member, names))
            .collect()
    }

    fn count(&self, member: usize, topic: usize) -> usize {
        let stack = self.held.get(member).and_then(|held| held.topics.get(&topic));
        stack.map_or(0, |stack| stack.partitions.len())
    }

    fn push(&mut self, member: usize, topic: usize, partition: u32) {
        self.stack(member, topic).partitions.push(partition);
        self.add_load(member, 1);
    }

    fn add_load(&mut self, member: usize, change: isize) {
        if let Some(held) = self.held.get_mut(member) {
            held.load = held.load.saturating_add_signed(change);
        }
    }

    fn stack(&mut self, member: usize, topic: usize) -> &mut Stack {
        self.held[member].topics.entry(topic).or_default()
    }
}

impl Held {
    fn assignment(self, member: &Member, topics: &[Topic]) -> Assignment {
        let mut assignment = Assignment::new(member);
        for (topic, mut stack) in self.topics {
            stack.partitions.sort_unstable();
            for partition in stack.partitions {
                assignment.push(&topics[topic].name, partition);
            }
        }
        assignment
    }
}

fn indexes(topic: &Topic) -> BTreeSet<u32> {
    topic.partitions.iter().map(|partition| partition.index).collect()
}
