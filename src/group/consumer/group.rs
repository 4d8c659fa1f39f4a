//! A consumer group as its records tell it. Changed by [`replay`](super::replay) alone.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{ConsumerGroupState, TopicPartitions, member::Member};
use crate::{
    base::{MemberId, PluginName, TopicId, TopicName},
    group::ResolvedRegex,
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerGroup {
    /// Grows with each change of members, subscriptions or topics.
    pub(super) epoch: i32,
    /// Of the topics that are subscribed to, when the epoch last grew.
    pub(super) metadata_hash: i64,
    pub(super) members: BTreeMap<MemberId, Member>,
    pub(super) static_members: BTreeMap<Arc<str>, MemberId>,
    /// The group's epoch for which the targets were made.
    pub(super) assignment_epoch: i32,
    pub(super) targets: BTreeMap<MemberId, TopicPartitions>,
    pub(super) regexes: BTreeMap<Arc<str>, ResolvedRegex>,
    /// Who holds a partition, be it to give it up: nobody else gets it before.
    pub(super) owners: HashMap<(TopicId, i32), MemberId>,
}

impl ConsumerGroup {
    pub fn state(&self) -> ConsumerGroupState {
        if self.members.is_empty() {
            ConsumerGroupState::Empty
        } else if self.epoch > self.assignment_epoch {
            ConsumerGroupState::Assigning
        } else if self.members.values().all(|it| it.is_reconciled_to(self.assignment_epoch)) {
            ConsumerGroupState::Stable
        } else {
            ConsumerGroupState::Reconciling
        }
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Of all members.
    pub fn subscribed_topics(&self) -> BTreeSet<TopicName> {
        self.members.values().flat_map(|it| it.topics(&self.regexes)).cloned().collect()
    }

    /// The server assignor that most members choose.
    pub fn remote_assignor(&self) -> Option<&PluginName> {
        preferred(self.members.values())
    }

    pub(super) fn is_owned(&self, topic: TopicId, partition: i32) -> bool {
        self.owners.contains_key(&(topic, partition))
    }

    pub(super) fn static_member(&self, instance: &Arc<str>) -> Option<(&MemberId, &Member)> {
        let id = self.static_members.get(instance)?;
        Some((id, self.members.get(id)?))
    }

    pub(super) fn target(&self, member_id: &MemberId) -> TopicPartitions {
        self.targets.get(member_id).cloned().unwrap_or_default()
    }
}

/// What most of these members choose; of equals the first by name.
pub(super) fn preferred<'a>(members: impl Iterator<Item = &'a Member>) -> Option<&'a PluginName> {
    let mut votes: BTreeMap<&PluginName, usize> = BTreeMap::new();
    for choice in members.filter_map(|it| it.metadata.server_assignor.as_ref()) {
        *votes.entry(choice).or_default() += 1;
    }
    votes.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0))).map(|it| it.0)
}
