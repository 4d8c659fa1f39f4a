//! Who has which partitions while `uniform` works. Members go by their place in the order of their ids.

use std::collections::BTreeMap;

use super::{Assignments, GroupSpec, MemberSpec, TopicPartitions};
use crate::base::{MemberId, TopicId};

pub(super) type Index = usize;

pub(super) struct Owners<'a> {
    members: Vec<&'a MemberId>,
    /// All topics with subscribers; each partition's owner.
    topics: BTreeMap<TopicId, Vec<Option<Index>>>,
    /// How many partitions each member has.
    loads: Vec<usize>,
}

impl<'a> Owners<'a> {
    /// Each member has what it had and still subscribes to. What two had is the first one's.
    pub(super) fn of(group: &'a GroupSpec) -> Self {
        let subscribed = group.members.values().flat_map(|it| group.topics_of(it));
        let mut topics = BTreeMap::new();
        for (topic, partitions) in subscribed {
            let none = || vec![None; usize::try_from(partitions).unwrap_or_default()];
            topics.entry(topic).or_insert_with(none);
        }
        let members = group.members.keys().collect();
        let mut owners = Self { members, topics, loads: vec![0; group.members.len()] };
        for (member, spec) in group.members.values().enumerate() {
            owners.keep(member, spec);
        }
        owners
    }

    fn keep(&mut self, member: Index, spec: &MemberSpec) {
        let assigned = spec.assigned.0.iter().filter(|(topic, _)| spec.subscribed.contains(topic));
        for (topic, partitions) in assigned {
            for partition in partitions.iter().filter_map(|it| usize::try_from(*it).ok()) {
                if self.is_free(*topic, partition) {
                    self.give(*topic, partition, member);
                }
            }
        }
    }

    /// Whether there is such a partition, and nobody has it.
    fn is_free(&self, topic: TopicId, partition: usize) -> bool {
        self.of_topic(topic).get(partition).is_some_and(Option::is_none)
    }

    pub(super) fn load(&self, member: Index) -> usize {
        self.loads.get(member).copied().unwrap_or_default()
    }

    pub(super) fn loads(&self) -> &[usize] {
        &self.loads
    }

    pub(super) fn partitions(&self) -> usize {
        self.topics.values().map(Vec::len).sum()
    }

    /// A topic's partitions, each with its owner.
    pub(super) fn of_topic(&self, topic: TopicId) -> &[Option<Index>] {
        self.topics.get(&topic).map(Vec::as_slice).unwrap_or_default()
    }

    /// All that nobody has, in order.
    pub(super) fn free(&self) -> Vec<(TopicId, usize)> {
        let free = |(topic, owners): (&TopicId, &'_ Vec<Option<Index>>)| {
            let free = owners.iter().enumerate().filter(|(_, owner)| owner.is_none());
            free.map(|(partition, _)| (*topic, partition)).collect::<Vec<_>>()
        };
        self.topics.iter().flat_map(free).collect()
    }

    /// Takes it from whoever has it.
    pub(super) fn give(&mut self, topic: TopicId, partition: usize, member: Index) {
        let owners = self.topics.get_mut(&topic);
        let Some(owner) = owners.and_then(|it| it.get_mut(partition)) else { return };
        let before = owner.replace(member);
        if let Some(load) = before.and_then(|it| self.loads.get_mut(it)) {
            *load -= 1;
        }
        if let Some(load) = self.loads.get_mut(member) {
            *load += 1;
        }
    }

    /// Takes from each member what is more than its quota: the last of its partitions.
    pub(super) fn release_above(&mut self, quotas: &[usize]) {
        let mut left = quotas.to_vec();
        for owner in self.topics.values_mut().flatten() {
            let Some(member) = *owner else { continue };
            match left.get_mut(member) {
                Some(left) if *left > 0 => *left -= 1,
                _ => *owner = None,
            }
        }
        for (load, quota) in self.loads.iter_mut().zip(quotas) {
            *load = (*load).min(*quota);
        }
    }

    pub(super) fn into_assignments(self) -> Assignments {
        let mut assigned = vec![TopicPartitions::default(); self.members.len()];
        for (topic, owners) in self.topics {
            for (partition, owner) in (0..).zip(owners) {
                if let Some(it) = owner.and_then(|it| assigned.get_mut(it)) {
                    it.0.entry(topic).or_default().insert(partition);
                }
            }
        }
        self.members.into_iter().cloned().zip(assigned).collect()
    }
}
