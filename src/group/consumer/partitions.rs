//! Partitions by topic id, as heartbeats and records of the consumer protocol tell them.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::TopicId;

/// Sorted; no topic without partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicPartitions(pub BTreeMap<TopicId, BTreeSet<i32>>);

impl TopicPartitions {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, topic: TopicId, partition: i32) -> bool {
        self.0.get(&topic).is_some_and(|it| it.contains(&partition))
    }

    pub fn insert(&mut self, topic: TopicId, partition: i32) {
        self.0.entry(topic).or_default().insert(partition);
    }

    pub fn iter(&self) -> impl Iterator<Item = (TopicId, i32)> {
        self.0.iter().flat_map(|(&topic, it)| it.iter().map(move |&partition| (topic, partition)))
    }

    /// How many partitions, of all topics.
    pub fn count(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    pub fn is_subset(&self, of: &Self) -> bool {
        self.iter().all(|(topic, partition)| of.contains(topic, partition))
    }

    pub fn intersects(&self, other: &Self) -> bool {
        self.iter().any(|(topic, partition)| other.contains(topic, partition))
    }

    /// Those for which `is_wanted` holds, and the others.
    pub fn split(&self, is_wanted: impl Fn(TopicId, i32) -> bool) -> (Self, Self) {
        let (wanted, others): (Vec<_>, Vec<_>) = self.iter().partition(|it| is_wanted(it.0, it.1));
        (wanted.into_iter().collect(), others.into_iter().collect())
    }
}

impl FromIterator<(TopicId, i32)> for TopicPartitions {
    fn from_iter<I: IntoIterator<Item = (TopicId, i32)>>(partitions: I) -> Self {
        let mut these = Self::default();
        these.extend(partitions);
        these
    }
}

impl Extend<(TopicId, i32)> for TopicPartitions {
    fn extend<I: IntoIterator<Item = (TopicId, i32)>>(&mut self, partitions: I) {
        for (topic, partition) in partitions {
            self.insert(topic, partition);
        }
    }
}
