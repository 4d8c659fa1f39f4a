//! Committed offsets as clients store and read them, and how long they are kept.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    CommitOffsets, Effects, FetchOffsets, GroupError, OffsetCommit, Shard,
    classic::{ClassicGroup, State, Step},
    consumer::ConsumerGroup,
    offsets::{Retention, tombstone},
};
use crate::base::{GroupId, TimestampMs, TopicId, TopicName, TopicPartition};

/// Partitions with what is committed of them.
pub type Fetched = Vec<(TopicPartition, Option<OffsetCommit>)>;

/// What the members of a group read.
enum Subscription {
    None,
    Topics(BTreeSet<TopicName>),
    /// They have not agreed yet, or on what nobody understands.
    Unknown,
}

impl Subscription {
    fn of(group: &ClassicGroup) -> Self {
        match (group.state(), group.subscribed_topics()) {
            (State::Empty | State::Dead, _) => Self::None,
            (_, Some(topics)) => Self::Topics(topics),
            (_, None) => Self::Unknown,
        }
    }

    fn covers(&self, topic: &TopicName) -> bool {
        match self {
            Self::None => false,
            Self::Topics(topics) => topics.contains(topic),
            Self::Unknown => true,
        }
    }
}

impl Shard {
    /// Stores offsets; one result for each, or one error for all.
    pub fn commit(
        &mut self,
        request: &CommitOffsets,
        now: TimestampMs,
    ) -> (Effects, Result<Vec<Result<(), GroupError>>, GroupError>) {
        let mut effects = Effects::default();
        if let Err(error) = self.admit_commit(request) {
            return (effects, Err(error));
        }
        if let Some(group) = self.live.get_mut(&request.group_id) {
            let mut step = Step { settings: &self.settings, now, effects: &mut effects };
            group.committed(&request.member_id, &mut step);
        }
        let mut results = Vec::with_capacity(request.offsets.len());
        for offset in &request.offsets {
            if offset.metadata.len() > self.settings.offset_metadata_max_bytes {
                results.push(Err(GroupError::OffsetMetadataTooLarge));
                continue;
            }
            let record = offset.record(&request.group_id, request.retention_time_ms, now);
            effects.records.push(record);
            results.push(Ok(()));
        }
        (effects, Ok(results))
    }

    fn admit_commit(&self, request: &CommitOffsets) -> Result<(), GroupError> {
        if let Some(group) = self.consumers.get(&request.group_id) {
            return group.validate_commit(request);
        }
        let instance = request.group_instance_id.as_ref();
        match self.live.get(&request.group_id) {
            Some(group) => {
                group.validate_commit(&request.member_id, instance, request.generation_id)
            }
            None if request.generation_id < 0 => Ok(()),
            None if self.offsets.has(&request.group_id) => Err(GroupError::UnknownMemberId),
            None if request.tells_missing_group => Err(GroupError::GroupIdNotFound),
            None => Err(GroupError::IllegalGeneration),
        }
    }

    /// Removes offsets of a group, but of no topic that its members read (KIP-496); one result for each, or one error for all.
    pub fn delete_offsets(
        &self,
        group_id: &GroupId,
        partitions: &[TopicPartition],
    ) -> (Effects, Result<Vec<Result<(), GroupError>>, GroupError>) {
        let mut effects = Effects::default();
        if let Err(error) = self.admit_offset_deletion(group_id) {
            return (effects, Err(error));
        }
        let subscription = self.subscription(group_id);
        let mut results = Vec::with_capacity(partitions.len());
        for partition in partitions {
            if subscription.covers(&partition.topic) {
                results.push(Err(GroupError::SubscribedToTopic));
                continue;
            }
            if self.offsets.get(group_id, partition).is_some() {
                effects.records.push(tombstone(group_id, partition.clone()));
            }
            results.push(Ok(()));
        }
        (effects, Ok(results))
    }

    fn subscription(&self, group_id: &GroupId) -> Subscription {
        if let Some(group) = self.consumers.get(group_id) {
            return Subscription::Topics(group.subscribed_topics());
        }
        self.live.get(group_id).map_or(Subscription::None, Subscription::of)
    }

    fn admit_offset_deletion(&self, group_id: &GroupId) -> Result<(), GroupError> {
        if group_id.as_str().is_empty() {
            return Err(GroupError::InvalidGroupId);
        }
        if self.consumers.contains_key(group_id) {
            return Ok(());
        }
        let described = self.describe(group_id)?;
        match described.state {
            State::Dead => Err(GroupError::GroupIdNotFound),
            State::Empty => Ok(()),
            // What others than consumers read, nobody knows.
            _ if *described.protocol_type == *"consumer" => Ok(()),
            _ => Err(GroupError::NonEmptyGroup),
        }
    }

    /// The committed offset of each partition asked for; of all that have one if none is named.
    ///
    /// # Errors
    ///
    /// Those of a member of a consumer group whose id or epoch is not the group's.
    pub fn fetch(&self, request: FetchOffsets) -> Result<Fetched, GroupError> {
        let FetchOffsets { group_id, partitions, .. } = &request;
        if let Some(group) = self.consumers.get(group_id) {
            group.validate_fetch(&request)?;
        }
        let fetched = match partitions.clone() {
            Some(partitions) => partitions
                .into_iter()
                .map(|it| {
                    let committed = self.offsets.get(group_id, &it).cloned();
                    (it, committed)
                })
                .collect(),
            None => {
                self.offsets.of(group_id).map(|(tp, it)| (tp.clone(), Some(it.clone()))).collect()
            }
        };
        Ok(fetched)
    }

    pub fn committed(&self, group_id: &GroupId, tp: &TopicPartition) -> Option<&OffsetCommit> {
        self.offsets.get(group_id, tp)
    }

    /// Removes offsets whose retention is over, and groups of which nothing is left.
    pub fn expire(&mut self, now: TimestampMs) -> Effects {
        let mut effects = Effects::default();
        let retention_ms = self.settings.offsets_retention_minutes.saturating_mul(60_000);
        let with_offsets = self.offsets.group_ids();
        let groups = self.live.keys().chain(self.consumers.keys());
        let ids: BTreeSet<GroupId> = with_offsets.chain(groups).cloned().collect();
        for id in ids {
            let expired = self.offsets.expired(&id, &self.retention(&id), retention_ms, now);
            let all = expired.len() == self.offsets.of(&id).count();
            effects.records.extend(expired.into_iter().map(|tp| tombstone(&id, tp)));
            let is_idle = self.live.get(&id).is_some_and(ClassicGroup::is_idle)
                || self.consumers.get(&id).is_some_and(ConsumerGroup::is_empty);
            if all && is_idle {
                self.forget(&id, &mut effects);
            }
        }
        effects
    }

    fn retention(&self, group_id: &GroupId) -> Retention {
        if let Some(group) = self.consumers.get(group_id) {
            return Retention::Unsubscribed(group.subscribed_topics());
        }
        let Some(group) = self.live.get(group_id) else { return Retention::SinceCommit };
        if group.protocol_type().is_none() {
            return Retention::SinceCommit;
        }
        match (group.state(), group.subscribed_topics()) {
            (State::Empty, _) => {
                group.state_timestamp().map_or(Retention::SinceCommit, Retention::Since)
            }
            (State::Stable, Some(topics)) => Retention::Unsubscribed(topics),
            _ => Retention::Kept,
        }
    }

    /// Removes the offsets of topics that are gone: one that is made again under its name begins anew.
    pub fn topics_deleted(&self, topics: &BTreeMap<TopicName, TopicId>) -> Effects {
        let is_gone = |tp: &TopicPartition, it: &OffsetCommit| {
            let gone = topics.get(&tp.topic);
            gone.is_some_and(|&id| it.topic_id.is_none_or(|committed| committed == id))
        };
        let gone = self.offsets.all().filter(|(_, tp, it)| is_gone(tp, it));
        let records = gone.map(|(id, tp, _)| tombstone(id, tp.clone())).collect();
        Effects { records, ..Effects::default() }
    }
}
