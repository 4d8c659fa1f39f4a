//! Committed offsets of the groups of a shard. Written by replay alone.

use std::{collections::BTreeMap, sync::Arc};

use super::{GroupRecord, OffsetCommit};
use crate::base::{GroupId, LeaderEpoch, MemberId, Offset, TimestampMs, TopicId, TopicPartition};

/// An offset as the broker keeps it.
pub type CommittedOffset = OffsetCommit;

/// The progress of transforms behind the log; such a group has no members that would keep it alive.
const NEVER_EXPIRED_PREFIX: &str = "klamm.transform.";

#[derive(Clone, Debug)]
pub struct CommitOffsets {
    pub group_id: GroupId,
    /// Empty without group management.
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    /// −1 without group management.
    pub generation_id: i32,
    pub offsets: Vec<OffsetToCommit>,
    /// Of versions 2 to 4.
    pub retention_time_ms: Option<i64>,
    /// Version 9 and above tell of a missing group, older ones of a wrong generation; and only those are for members of
    /// consumer groups.
    pub tells_missing_group: bool,
}

#[derive(Clone, Debug)]
pub struct FetchOffsets {
    pub group_id: GroupId,
    /// Of a member of a consumer group, from version 9 on; `None` from who does not tell.
    pub member_id: Option<MemberId>,
    /// −1 from who does not tell.
    pub member_epoch: i32,
    /// `None` for all partitions that have an offset.
    pub partitions: Option<Vec<TopicPartition>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetToCommit {
    pub topic_partition: TopicPartition,
    pub topic_id: Option<TopicId>,
    pub offset: Offset,
    pub leader_epoch: Option<LeaderEpoch>,
    pub metadata: Arc<str>,
}

impl OffsetToCommit {
    pub(super) fn record(
        &self,
        group_id: &GroupId,
        retention_time_ms: Option<i64>,
        now: TimestampMs,
    ) -> GroupRecord {
        let expire_timestamp = retention_time_ms.map(|ms| TimestampMs(now.0.saturating_add(ms)));
        // The version of the value that has an expiry has neither epoch nor topic id.
        let has_room = expire_timestamp.is_none();
        let value = OffsetCommit {
            offset: self.offset,
            leader_epoch: self.leader_epoch.filter(|_| has_room),
            metadata: self.metadata.clone(),
            commit_timestamp: now,
            expire_timestamp,
            topic_id: self.topic_id.filter(|_| has_room),
        };
        GroupRecord::OffsetCommit {
            group_id: group_id.clone(),
            topic_partition: self.topic_partition.clone(),
            value: Some(value),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offsets {
    groups: BTreeMap<GroupId, BTreeMap<TopicPartition, OffsetCommit>>,
}

/// From when on the retention of a group's offsets counts.
#[derive(Clone, Debug)]
pub(super) enum Retention {
    /// Members read them: kept.
    Kept,
    /// From each commit on: the group has no members to speak of.
    SinceCommit,
    /// From when the last member left.
    Since(TimestampMs),
    /// From each commit on, but only of topics that the group does not read any more.
    Unsubscribed(std::collections::BTreeSet<crate::base::TopicName>),
}

impl Offsets {
    pub(super) fn replay(
        &mut self,
        group_id: GroupId,
        topic_partition: TopicPartition,
        value: Option<OffsetCommit>,
    ) {
        if let Some(value) = value {
            self.groups.entry(group_id).or_default().insert(topic_partition, value);
            return;
        }
        if let Some(offsets) = self.groups.get_mut(&group_id) {
            offsets.remove(&topic_partition);
            if offsets.is_empty() {
                self.groups.remove(&group_id);
            }
        }
    }

    pub(super) fn group_ids(&self) -> impl Iterator<Item = &GroupId> {
        self.groups.keys()
    }

    pub(super) fn of(
        &self,
        group_id: &GroupId,
    ) -> impl Iterator<Item = (&TopicPartition, &OffsetCommit)> {
        self.groups.get(group_id).into_iter().flatten()
    }

    pub(super) fn get(
        &self,
        group_id: &GroupId,
        topic_partition: &TopicPartition,
    ) -> Option<&OffsetCommit> {
        self.groups.get(group_id)?.get(topic_partition)
    }

    pub(super) fn has(&self, group_id: &GroupId) -> bool {
        self.groups.contains_key(group_id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&GroupId, &TopicPartition, &OffsetCommit)> {
        self.groups.iter().flat_map(|(id, it)| it.iter().map(move |(tp, value)| (id, tp, value)))
    }

    /// The offsets of a group whose time is up.
    pub(super) fn expired(
        &self,
        group_id: &GroupId,
        retention: &Retention,
        retention_ms: i64,
        now: TimestampMs,
    ) -> Vec<TopicPartition> {
        if group_id.as_str().starts_with(NEVER_EXPIRED_PREFIX) {
            return Vec::new();
        }
        let over = |since: TimestampMs| now.0.saturating_sub(since.0) >= retention_ms;
        let is_expired = |tp: &TopicPartition, it: &OffsetCommit| match retention {
            Retention::Kept => false,
            Retention::Unsubscribed(topics) if topics.contains(&tp.topic) => false,
            Retention::Since(_) | Retention::SinceCommit | Retention::Unsubscribed(_) => {
                let since = match retention {
                    Retention::Since(since) => *since,
                    _ => it.commit_timestamp,
                };
                it.expire_timestamp.map_or_else(|| over(since), |at| now >= at)
            }
        };
        self.of(group_id).filter(|(tp, it)| is_expired(tp, it)).map(|(tp, _)| tp.clone()).collect()
    }
}

pub(super) fn tombstone(group_id: &GroupId, topic_partition: TopicPartition) -> GroupRecord {
    GroupRecord::OffsetCommit { group_id: group_id.clone(), topic_partition, value: None }
}
