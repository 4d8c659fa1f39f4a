//! How members go: they leave, for good or for a while, an operator removes them, or their time is up.

use std::collections::BTreeSet;

use super::{
    ConsumerGroup, ConsumerHeartbeat, ConsumerHeartbeatRequest, Soft, Step, TopicPartitions,
    member::{LEAVE_STATIC_EPOCH, Member},
};
use crate::{
    base::{GroupId, MemberId},
    group::{CurrentAssignment, GroupError, GroupRecord, classic::LeavingMember},
};

impl ConsumerGroup {
    /// # Errors
    ///
    /// [`GroupError::UnknownMemberId`], [`GroupError::FencedInstanceId`].
    pub(super) fn leave(
        &self,
        request: &ConsumerHeartbeatRequest,
        soft: &mut Soft,
        step: &mut Step<'_>,
    ) -> Result<ConsumerHeartbeat, GroupError> {
        let member = self.leaving(request)?;
        if request.member_epoch == LEAVE_STATIC_EPOCH {
            step.store_current(&request.member_id, Some(away(member)));
        } else {
            self.fence(&request.member_id, soft, step);
        }
        Ok(ConsumerHeartbeat {
            member_id: request.member_id.clone(),
            member_epoch: request.member_epoch,
            heartbeat_interval_ms: 0,
            assignment: None,
        })
    }

    fn leaving(&self, request: &ConsumerHeartbeatRequest) -> Result<&Member, GroupError> {
        let Some(instance) = &request.group_instance_id else {
            return self.members.get(&request.member_id).ok_or(GroupError::UnknownMemberId);
        };
        let (holder, member) = self.static_member(instance).ok_or(GroupError::UnknownMemberId)?;
        if *holder == request.member_id { Ok(member) } else { Err(GroupError::FencedInstanceId) }
    }

    /// `LeaveGroup`, by which an operator removes members of this protocol too: one result each.
    pub(super) fn remove(
        &self,
        leaving: &[LeavingMember],
        soft: &mut Soft,
        step: &mut Step<'_>,
    ) -> Vec<Result<(), GroupError>> {
        let found: Vec<_> = leaving.iter().map(|it| self.removed(it)).collect();
        let ids: BTreeSet<&MemberId> = found.iter().flatten().copied().collect();
        if !ids.is_empty() {
            self.fence_all(ids, soft, step);
        }
        found.into_iter().map(|it| it.map(|_| ())).collect()
    }

    fn removed(&self, leaving: &LeavingMember) -> Result<&MemberId, GroupError> {
        let Some(instance) = &leaving.group_instance_id else {
            let known = self.members.get_key_value(&leaving.member_id);
            return known.map(|it| it.0).ok_or(GroupError::UnknownMemberId);
        };
        let (holder, _) = self.static_member(instance).ok_or(GroupError::UnknownMemberId)?;
        let names_another = !leaving.member_id.as_str().is_empty() && *holder != leaving.member_id;
        if names_another { Err(GroupError::FencedInstanceId) } else { Ok(holder) }
    }

    /// Removes a member. What it had is the others' from the next epoch's targets on.
    pub(super) fn fence(&self, id: &MemberId, soft: &mut Soft, step: &mut Step<'_>) {
        self.fence_all([id], soft, step);
    }

    /// One new epoch for all of them.
    fn fence_all<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a MemberId>,
        soft: &mut Soft,
        step: &mut Step<'_>,
    ) {
        for id in ids {
            dismiss(id, soft, step);
        }
        soft.outdate();
        // Their topics and regular expressions stay: the next heartbeat looks what the others still read.
        step.store_group(self.epoch + 1, self.metadata_hash);
    }

    /// Nothing is left of the group once they are replayed.
    pub(in crate::group) fn tombstones(&self, group_id: &GroupId) -> Vec<GroupRecord> {
        let own = || group_id.clone();
        let member = |id: &MemberId| (own(), id.clone());
        let current = self.members.keys().map(member);
        let current = current.map(|(group_id, member_id)| GroupRecord::ConsumerCurrent {
            group_id,
            member_id,
            value: None,
        });
        let targets = self.targets.keys().map(member);
        let targets = targets.map(|(group_id, member_id)| GroupRecord::ConsumerTargetMember {
            group_id,
            member_id,
            value: None,
        });
        let metadata = self.members.keys().map(member);
        let metadata = metadata.map(|(group_id, member_id)| GroupRecord::ConsumerMember {
            group_id,
            member_id,
            value: None,
        });
        let regexes = self.regexes.keys();
        let regexes = regexes.map(|regex| GroupRecord::ConsumerRegex {
            group_id: own(),
            regex: regex.clone(),
            value: None,
        });
        let target_epoch = GroupRecord::ConsumerTarget { group_id: own(), assignment_epoch: None };
        let group = GroupRecord::ConsumerGroup { group_id: own(), value: None };
        let members = current.chain(targets).chain([target_epoch]).chain(metadata);
        members.chain(regexes).chain([group]).collect()
    }
}

/// Removes a member's records, in this order, so that none of them is left without its metadata.
pub(super) fn dismiss(id: &MemberId, soft: &mut Soft, step: &mut Step<'_>) {
    step.store_current(id, None);
    step.store_target(id, None);
    step.store_member(id, None);
    soft.forget(id);
}

/// A static member that will come back: it keeps what it has, and has given up what it had to.
fn away(member: &Member) -> CurrentAssignment {
    CurrentAssignment {
        member_epoch: LEAVE_STATIC_EPOCH,
        pending_revocation: TopicPartitions::default(),
        ..member.current.clone()
    }
}
