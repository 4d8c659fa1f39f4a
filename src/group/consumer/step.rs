//! What every step of a consumer group gets: the settings, the time, and where its effects go.

use std::sync::Arc;

use super::TopicPartitions;
use crate::{
    base::{GroupId, MemberId, TimestampMs},
    config::GroupConfig,
    group::{
        ConsumerGroupMetadata, ConsumerMemberMetadata, CurrentAssignment, Effects, GroupRecord,
        ResolvedRegex, TimerKind,
    },
};

pub(in crate::group) struct Step<'a> {
    pub(in crate::group) group_id: &'a GroupId,
    pub(in crate::group) settings: &'a GroupConfig,
    pub(in crate::group) now: TimestampMs,
    pub(in crate::group) effects: &'a mut Effects,
}

impl Step<'_> {
    pub(super) fn after(&self, ms: i32) -> TimestampMs {
        TimestampMs(self.now.0.saturating_add(ms.into()))
    }

    pub(super) fn timer(&mut self, at: TimestampMs, kind: TimerKind) {
        self.effects.timer(at, self.group_id, kind);
    }

    pub(super) fn store(&mut self, record: GroupRecord) {
        self.effects.records.push(record);
    }

    pub(super) fn store_group(&mut self, epoch: i32, metadata_hash: i64) {
        let value = Some(ConsumerGroupMetadata { epoch, metadata_hash });
        self.store(GroupRecord::ConsumerGroup { group_id: self.group_id.clone(), value });
    }

    pub(super) fn store_member(&mut self, id: &MemberId, value: Option<ConsumerMemberMetadata>) {
        let (group_id, member_id) = (self.group_id.clone(), id.clone());
        self.store(GroupRecord::ConsumerMember { group_id, member_id, value });
    }

    pub(super) fn store_current(&mut self, id: &MemberId, value: Option<CurrentAssignment>) {
        let (group_id, member_id) = (self.group_id.clone(), id.clone());
        self.store(GroupRecord::ConsumerCurrent { group_id, member_id, value });
    }

    pub(super) fn store_target(&mut self, id: &MemberId, value: Option<TopicPartitions>) {
        let (group_id, member_id) = (self.group_id.clone(), id.clone());
        self.store(GroupRecord::ConsumerTargetMember { group_id, member_id, value });
    }

    pub(super) fn store_regex(&mut self, regex: &Arc<str>, value: Option<ResolvedRegex>) {
        let (group_id, regex) = (self.group_id.clone(), regex.clone());
        self.store(GroupRecord::ConsumerRegex { group_id, regex, value });
    }

    pub(super) fn store_target_epoch(&mut self, assignment_epoch: Option<i32>) {
        let group_id = self.group_id.clone();
        self.store(GroupRecord::ConsumerTarget { group_id, assignment_epoch });
    }
}
