//! A heartbeat: what the member tells is stored, a change begins a new epoch, an epoch gets targets, and the member moves
//! a step towards its own.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use super::{
    ConsumerGroup, ConsumerHeartbeat, ConsumerHeartbeatRequest, Soft, Step, TopicPartitions,
    admission::Admitted,
    leave::dismiss,
    member::{Member, updated},
    reconcile::{Goal, reconcile},
    timers::arm_revocation,
};
use crate::{
    base::MemberId,
    group::{GroupError, ResolvedRegex},
    metadata::MetadataImage,
};

/// The group as it will be once the heartbeat's records are replayed: only what they change is in here.
pub(super) struct Draft<'a> {
    pub(super) group: &'a ConsumerGroup,
    pub(super) request: &'a ConsumerHeartbeatRequest,
    pub(super) image: &'a MetadataImage,
    pub(super) member: Member,
    /// A static member that leaves its place to this one.
    pub(super) replaced: Option<MemberId>,
    pub(super) epoch: i32,
    pub(super) metadata_hash: i64,
    pub(super) assignment_epoch: i32,
    /// Of the member.
    pub(super) target: TopicPartitions,
    pub(super) regexes: Cow<'a, BTreeMap<Arc<str>, ResolvedRegex>>,
}

impl ConsumerGroup {
    /// A group that does not exist yet is an empty one.
    ///
    /// # Errors
    ///
    /// Those of [`Self::admit`], and [`GroupError::InvalidRegularExpression`]; nothing has happened then.
    pub(super) fn heartbeat(
        &self,
        request: &ConsumerHeartbeatRequest,
        image: &MetadataImage,
        soft: &mut Soft,
        step: &mut Step<'_>,
    ) -> Result<ConsumerHeartbeat, GroupError> {
        let admitted = self.admit(request, step.settings.consumer.max_size)?;
        let pattern = self.new_pattern(request)?;
        let mut draft = Draft::new(self, request, image, &admitted);
        draft.take_place(soft, step);
        let changed = draft.subscribe(&admitted, step);
        let matches_others = draft.resolve(pattern, changed, soft, step);
        draft.advance(changed || matches_others, soft, step);
        draft.assign(soft, step);
        draft.reconcile(step);
        soft.touch(&request.member_id, request.times.session_timeout_ms, step);
        Ok(draft.answer(&admitted))
    }
}

impl<'a> Draft<'a> {
    fn new(
        group: &'a ConsumerGroup,
        request: &'a ConsumerHeartbeatRequest,
        image: &'a MetadataImage,
        admitted: &Admitted,
    ) -> Self {
        let replaced = admitted.replaces.clone();
        Self {
            group,
            request,
            image,
            member: admitted.member.clone(),
            target: group.target(replaced.as_ref().unwrap_or(&request.member_id)),
            replaced,
            epoch: group.epoch,
            metadata_hash: group.metadata_hash,
            assignment_epoch: group.assignment_epoch,
            regexes: Cow::Borrowed(&group.regexes),
        }
    }

    /// All members, the one that calls as it is by now.
    pub(super) fn members(&self) -> impl Iterator<Item = (&MemberId, &Member)> {
        let id = &self.request.member_id;
        let others = self.group.members.iter();
        let others = others.filter(move |it| it.0 != id && Some(it.0) != self.replaced.as_ref());
        others.chain(std::iter::once((id, &self.member)))
    }

    /// What a member is to have so far.
    pub(super) fn target_of(&self, id: &MemberId) -> TopicPartitions {
        if *id == self.request.member_id { self.target.clone() } else { self.group.target(id) }
    }

    /// The place of a static member goes over with all that it has.
    fn take_place(&self, soft: &mut Soft, step: &mut Step<'_>) {
        let Some(old) = &self.replaced else { return };
        dismiss(old, soft, step);
        // It was asked about other members.
        soft.outdate();
        let id = &self.request.member_id;
        step.store_member(id, Some(self.member.metadata.clone()));
        step.store_target(id, Some(self.target.clone()));
        step.store_current(id, Some(self.member.current.clone()));
    }

    /// Whether the subscription is another than before.
    fn subscribe(&mut self, admitted: &Admitted, step: &mut Step<'_>) -> bool {
        let before = &admitted.member.metadata;
        let metadata = updated(before, self.request);
        if !admitted.is_new && metadata == *before {
            return false;
        }
        step.store_member(&self.request.member_id, Some(metadata.clone()));
        let changed = metadata.subscribed_topic_names != before.subscribed_topic_names
            || metadata.subscribed_topic_regex != before.subscribed_topic_regex;
        self.member.metadata = metadata;
        changed
    }

    /// A change of members, subscriptions or topics begins a new epoch. One that has no targets yet takes a change of
    /// topics in.
    fn advance(&mut self, changed: bool, soft: &mut Soft, step: &mut Step<'_>) {
        let is_begun = self.group.epoch > 0;
        if !changed && is_begun && soft.has_seen_topics {
            return;
        }
        soft.has_seen_topics = true;
        let hash = self.hash_of_topics();
        let topics_changed = hash != self.metadata_hash;
        if is_begun && !changed && !topics_changed {
            return;
        }
        let has_targets = self.epoch == self.assignment_epoch;
        if changed || !is_begun || has_targets {
            self.epoch += 1;
        }
        soft.outdate();
        self.metadata_hash = hash;
        step.store_group(self.epoch, hash);
    }

    fn reconcile(&mut self, step: &mut Step<'_>) {
        if self.member.is_reconciled_to(self.assignment_epoch) {
            return;
        }
        let goal = Goal {
            assignment_epoch: self.assignment_epoch,
            target: &self.target,
            is_owned: &|topic, partition| self.group.is_owned(topic, partition),
        };
        let next = reconcile(&self.member, &goal, self.request.topic_partitions.as_ref());
        if next == self.member.current {
            return;
        }
        step.store_current(&self.request.member_id, Some(next.clone()));
        self.member.current = next;
        arm_revocation(&self.request.member_id, &self.member, step);
    }

    fn answer(&self, admitted: &Admitted) -> ConsumerHeartbeat {
        let (before, current) = (&admitted.member.current, &self.member.current);
        let must_tell = self.request.is_full() || current.assigned != before.assigned;
        ConsumerHeartbeat {
            member_id: self.request.member_id.clone(),
            member_epoch: current.member_epoch,
            heartbeat_interval_ms: self.request.times.heartbeat_interval_ms,
            assignment: must_tell.then(|| current.assigned.clone()),
        }
    }
}
