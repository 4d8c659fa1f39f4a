//! Kafka's `UniformHeterogeneousAssignmentBuilder`: members subscribe to different topics.
//!
//! Each member keeps what it had. What nobody has goes to the subscribers with the fewest partitions, beginning with the topics
//! that have most for each subscriber. At last partitions move from those that have most to those that have fewest, topic by topic,
//! as long as that evens them out.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use super::{
    Assignments, GroupSpec,
    owners::{Index, Owners},
};
use crate::base::TopicId;

/// Rounds over all topics: nearly always the second finds nothing to do. Where subscriptions overlap in chains it can take many,
/// of which each gains less than the one before.
const ROUNDS_MAX: usize = 16;

struct Topic {
    id: TopicId,
    partitions: usize,
    subscribers: Vec<Index>,
}

pub(super) fn assign(group: &GroupSpec) -> Assignments {
    let mut owners = Owners::of(group);
    let topics = topics(group);
    for topic in &topics {
        fill(&mut owners, topic);
    }
    for _ in 0..ROUNDS_MAX {
        let moved: usize = topics.iter().map(|it| balance(&mut owners, it)).sum();
        if moved == 0 {
            break;
        }
    }
    owners.into_assignments()
}

/// In the order in which they are worked on.
fn topics(group: &GroupSpec) -> Vec<Topic> {
    let mut topics = BTreeMap::new();
    for (member, spec) in group.members.values().enumerate() {
        for (id, partitions) in group.topics_of(spec) {
            let partitions = usize::try_from(partitions).unwrap_or_default();
            let none = || Topic { id, partitions, subscribers: Vec::new() };
            topics.entry(id).or_insert_with(none).subscribers.push(member);
        }
    }
    let mut topics: Vec<Topic> = topics.into_values().collect();
    topics.sort_by(|a, b| {
        // Partitions for each subscriber, without division.
        let (of_a, of_b) = (a.partitions * b.subscribers.len(), b.partitions * a.subscribers.len());
        of_b.cmp(&of_a).then_with(|| a.subscribers.len().cmp(&b.subscribers.len()))
    });
    topics
}

/// Subscribers, the one with the fewest partitions on top.
fn least_loaded(owners: &Owners<'_>, topic: &Topic) -> BinaryHeap<Reverse<(usize, Index)>> {
    topic.subscribers.iter().map(|&it| Reverse((owners.load(it), it))).collect()
}

/// Gives out what nobody has.
fn fill(owners: &mut Owners<'_>, topic: &Topic) {
    let partitions = owners.of_topic(topic.id).iter().enumerate();
    let free: Vec<usize> =
        partitions.filter(|(_, owner)| owner.is_none()).map(|(partition, _)| partition).collect();
    if free.is_empty() {
        return;
    }
    let mut least = least_loaded(owners, topic);
    for partition in free {
        let Some(mut top) = least.peek_mut() else { return };
        let Reverse((load, member)) = &mut *top;
        owners.give(topic.id, partition, *member);
        *load += 1;
    }
}

/// Moves partitions of one topic, and tells how many.
///
/// A member is on both heaps with what it had at first. That is enough: who has given is never one of those with the fewest, nor
/// who has got one of those with the most, before the difference is 1.
fn balance(owners: &mut Owners<'_>, topic: &Topic) -> usize {
    let loads = || topic.subscribers.iter().map(|&it| owners.load(it));
    if loads().max() <= loads().min().map(|it| it + 1) {
        return 0;
    }
    let mut owned: BTreeMap<Index, Vec<usize>> = BTreeMap::new();
    for (partition, owner) in owners.of_topic(topic.id).iter().enumerate() {
        if let Some(owner) = owner {
            owned.entry(*owner).or_default().push(partition);
        }
    }
    let mut least = least_loaded(owners, topic);
    let mut most: BinaryHeap<(usize, Index)> =
        owned.keys().map(|&it| (owners.load(it), it)).collect();
    let mut moved = 0;
    while let (Some((high, from)), Some(Reverse((low, to)))) = (most.pop(), least.pop()) {
        if high <= low + 1 {
            break;
        }
        let Some(partition) = owned.get_mut(&from).and_then(Vec::pop) else {
            // It has nothing left to give of this topic.
            least.push(Reverse((low, to)));
            continue;
        };
        owners.give(topic.id, partition, to);
        moved += 1;
        most.push((high - 1, from));
        least.push(Reverse((low + 1, to)));
    }
    moved
}
