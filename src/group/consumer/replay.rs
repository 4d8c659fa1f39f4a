//! How a consumer group changes: by its records, one by one. Each record tells the whole of its part, so that any order
//! that a cleaner leaves behind ends in the same state.

use std::sync::Arc;

use super::{
    ConsumerGroup, TopicPartitions,
    member::{LEAVE_EPOCH, Member},
};
use crate::{
    base::{GroupId, MemberId},
    group::{
        ConsumerGroupMetadata, ConsumerMemberMetadata, CurrentAssignment, GroupRecord,
        ResolvedRegex, Shard,
    },
};

impl Shard {
    /// A record of a consumer group; any but a tombstone makes the group if it is not there.
    pub(in crate::group) fn replay_consumers(&mut self, record: GroupRecord) {
        match record {
            GroupRecord::ConsumerGroup { group_id, value: Some(value) } => {
                self.consumers.entry(group_id).or_default().replay_group(&value);
            }
            GroupRecord::ConsumerGroup { group_id, value: None } => {
                self.consumers.remove(&group_id);
                self.soft.remove(&group_id);
            }
            GroupRecord::ConsumerMember { group_id, member_id, value } => {
                self.replay_in(group_id, value.is_some(), |it| it.replay_member(&member_id, value));
            }
            GroupRecord::ConsumerTarget { group_id, assignment_epoch: epoch } => {
                self.replay_in(group_id, epoch.is_some(), |it| it.replay_target_epoch(epoch));
            }
            GroupRecord::ConsumerTargetMember { group_id, member_id, value } => {
                self.replay_in(group_id, value.is_some(), |it| it.replay_target(&member_id, value));
            }
            GroupRecord::ConsumerCurrent { group_id, member_id, value } => {
                self.replay_in(group_id, value.is_some(), |it| {
                    it.replay_current(&member_id, value);
                });
            }
            GroupRecord::ConsumerRegex { group_id, regex, value } => {
                self.replay_in(group_id, value.is_some(), |it| it.replay_regex(regex, value));
            }
            GroupRecord::OffsetCommit { .. } | GroupRecord::GroupMetadata { .. } => {
                unreachable!("replayed before")
            }
        }
    }

    fn replay_in(
        &mut self,
        group_id: GroupId,
        makes: bool,
        replay: impl FnOnce(&mut ConsumerGroup),
    ) {
        if makes {
            replay(self.consumers.entry(group_id).or_default());
        } else if let Some(group) = self.consumers.get_mut(&group_id) {
            replay(group);
        }
    }
}

impl ConsumerGroup {
    pub(super) fn replay_group(&mut self, value: &ConsumerGroupMetadata) {
        self.epoch = value.epoch;
        self.metadata_hash = value.metadata_hash;
    }

    pub(super) fn replay_member(&mut self, id: &MemberId, value: Option<ConsumerMemberMetadata>) {
        let Some(metadata) = value else {
            self.remove_member(id);
            return;
        };
        if let Some(instance) = &metadata.group_instance_id {
            self.static_members.insert(instance.clone(), id.clone());
        }
        self.member(id).metadata = metadata;
    }

    pub(super) fn replay_target_epoch(&mut self, assignment_epoch: Option<i32>) {
        self.assignment_epoch = assignment_epoch.unwrap_or_default();
    }

    pub(super) fn replay_target(&mut self, id: &MemberId, value: Option<TopicPartitions>) {
        match value {
            Some(target) => self.targets.insert(id.clone(), target),
            None => self.targets.remove(id),
        };
    }

    /// Without a value the member owns nothing any more; it goes with its metadata.
    pub(super) fn replay_current(&mut self, id: &MemberId, value: Option<CurrentAssignment>) {
        self.release(id);
        if let Some(current) = value {
            self.claim(id, &current);
            self.member(id).current = current;
        } else if let Some(member) = self.members.get_mut(id) {
            member.current = Member::new().current;
            member.current.member_epoch = LEAVE_EPOCH;
        }
    }

    pub(super) fn replay_regex(&mut self, regex: Arc<str>, value: Option<ResolvedRegex>) {
        match value {
            Some(resolved) => self.regexes.insert(regex, resolved),
            None => self.regexes.remove(&regex),
        };
    }

    fn member(&mut self, id: &MemberId) -> &mut Member {
        self.members.entry(id.clone()).or_insert_with(Member::new)
    }

    fn remove_member(&mut self, id: &MemberId) {
        self.release(id);
        let Some(member) = self.members.remove(id) else { return };
        if let Some(instance) = &member.metadata.group_instance_id
            && self.static_members.get(instance) == Some(id)
        {
            self.static_members.remove(instance);
        }
    }

    fn claim(&mut self, id: &MemberId, current: &CurrentAssignment) {
        for partition in current.assigned.iter().chain(current.pending_revocation.iter()) {
            self.owners.insert(partition, id.clone());
        }
    }

    /// What another has got meanwhile stays the other's.
    fn release(&mut self, id: &MemberId) {
        let Some(member) = self.members.get(id) else { return };
        let current = &member.current;
        for partition in current.assigned.iter().chain(current.pending_revocation.iter()) {
            if self.owners.get(&partition) == Some(id) {
                self.owners.remove(&partition);
            }
        }
    }
}
