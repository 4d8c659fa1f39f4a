//! Racks (KIP-881): members get partitions that have a replica in their own rack, as far as shares stay as long as they are.
//!
//! Topics with as many partitions and the same subscribers are joined by key: whoever gets partition 7 of one gets it of
//! all, so that for them a rack counts only if it suits all.

use crate::share::Share;
use klamm_plugin::assignor::{Group, Member, Topic};
use std::collections::{BTreeMap, BTreeSet};

/// Who and what is in which rack. Racks are numbers here.
pub(crate) struct Racks {
    /// Of each member, in the group's order.
    members: Vec<Option<usize>>,
    /// Of each topic's partitions: the racks of its replicas, ascending, each once.
    topics: Vec<Vec<Vec<usize>>>,
}

impl Racks {
    pub(crate) fn new(group: &Group, members: &[&Member]) -> Self {
        let mut numbers = Numbers::default();
        Self {
            members: members
                .iter()
                .map(|member| member.rack.as_deref().map(|rack| numbers.of(rack)))
                .collect(),
            topics: group.topics.iter().map(|topic| numbers.of_topic(topic)).collect(),
        }
    }

    /// Gives out what suits everybody's rack; the rest is left.
    pub(crate) fn give_matching(&self, shares: &mut [Share<'_>]) {
        let matter: Vec<bool> = shares.iter().map(|share| self.matter_for(share)).collect();
        if !matter.contains(&true) {
            return;
        }
        for alike in alike(shares) {
            match alike[..] {
                [alone] if matter[alone] => {
                    let topic = shares[alone].number;
                    shares[alone].give_ranges(|member, at| self.suits(topic, member, at));
                }
                [_] => {}
                _ => self.give_joined(shares, &alike),
            }
        }
    }

    /// Whether a choice can be better than another: some subscriber's rack has replicas, and not those of all partitions.
    fn matter_for(&self, share: &Share<'_>) -> bool {
        let partitions = &self.topics[share.number];
        let all: BTreeSet<usize> = partitions.iter().flatten().copied().collect();
        let all_in_order: Vec<usize> = all.iter().copied().collect();
        let mut subscribed = share.subscribers.iter().filter_map(|member| self.members[*member]);
        subscribed.any(|rack| all.contains(&rack))
            && partitions.iter().any(|racks| *racks != all_in_order)
    }

    /// A member without a rack takes any partition.
    fn suits(&self, topic: usize, member: usize, partition: usize) -> bool {
        let racks = &self.topics[topic][partition];
        self.members[member].is_none_or(|rack| racks.contains(&rack))
    }

    /// Partition by partition, to the first subscriber whose rack suits in every topic.
    fn give_joined(&self, shares: &mut [Share<'_>], alike: &[usize]) {
        let Some(first) = alike.first().map(|share| &shares[*share]) else { return };
        let partitions = first.topic.partitions.len();
        let mut subscribers: Vec<(usize, usize)> =
            first.subscribers.iter().copied().enumerate().collect();
        for partition in 0..partitions {
            let found = subscribers.iter().position(|(subscriber, member)| {
                alike.iter().map(|share| &shares[*share]).all(|share| {
                    share.room(*subscriber) > 0 && self.suits(share.number, *member, partition)
                })
            });
            let Some(place) = found else { continue };
            let (subscriber, _) = subscribers[place];
            for share in alike {
                shares[*share].give(subscriber, partition);
            }
            if alike.iter().all(|share| shares[*share].room(subscriber) == 0) {
                subscribers.remove(place);
            }
        }
    }
}

/// Topics with the same subscribers and as many partitions, together.
fn alike(shares: &[Share<'_>]) -> Vec<Vec<usize>> {
    let mut alike: BTreeMap<(&[usize], usize), Vec<usize>> = BTreeMap::new();
    for (at, share) in shares.iter().enumerate() {
        let key = (share.subscribers.as_slice(), share.topic.partitions.len());
        alike.entry(key).or_default().push(at);
    }
    alike.into_values().collect()
}

/// Numbers racks as they come.
#[derive(Default)]
struct Numbers<'g>(BTreeMap<&'g str, usize>);

impl<'g> Numbers<'g> {
    fn of(&mut self, rack: &'g str) -> usize {
        let next = self.0.len();
        *self.0.entry(rack).or_insert(next)
    }

    fn of_topic(&mut self, topic: &'g Topic) -> Vec<Vec<usize>> {
        let partitions = topic.partitions.iter().map(|partition| {
            let racks: BTreeSet<usize> = partition.racks.iter().map(|it| self.of(it)).collect();
            racks.into_iter().collect()
        });
        partitions.collect()
    }
}
