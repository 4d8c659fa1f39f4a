//! What a shard does for its consumer groups.

use super::{
    ConsumerAnswer, ConsumerGroup, ConsumerHeartbeat, ConsumerHeartbeatRequest,
    DescribedConsumerGroup, Soft, Step,
};
use crate::{
    base::{GroupId, PluginName, TimestampMs},
    config::group::ConsumerTimes,
    group::{Effects, GroupError, GroupRecord, Shard, TimerKey, classic::LeavingMember},
    metadata::MetadataImage,
};

impl Shard {
    /// # Errors
    ///
    /// Those of `ConsumerGroupHeartbeat`; nothing has happened then.
    pub fn consumer_heartbeat(
        &mut self,
        request: &ConsumerHeartbeatRequest,
        image: &MetadataImage,
        now: TimestampMs,
    ) -> (Effects, Result<ConsumerHeartbeat, GroupError>) {
        let mut effects = Effects::default();
        let result = self.take_heartbeat(request, image, now, &mut effects);
        if result.is_ok() {
            // If it was there it was empty, and its tombstone is among the records.
            self.live.remove(&request.group_id);
            return (effects, result);
        }
        if !self.consumers.contains_key(&request.group_id) {
            self.soft.remove(&request.group_id);
        }
        (Effects::default(), result)
    }

    fn take_heartbeat(
        &mut self,
        request: &ConsumerHeartbeatRequest,
        image: &MetadataImage,
        now: TimestampMs,
        effects: &mut Effects,
    ) -> Result<ConsumerHeartbeat, GroupError> {
        request.validate(&self.settings.consumer.assignors)?;
        let group_id = &request.group_id;
        let new = ConsumerGroup::default();
        let group = match self.consumers.get(group_id) {
            Some(group) => group,
            None if request.joins() => {
                effects.records.extend(self.leave_to_consumers(group_id)?);
                &new
            }
            None => return Err(GroupError::GroupIdNotFound),
        };
        let soft = self.soft.entry(group_id.clone()).or_default();
        let mut step = Step { group_id, settings: &self.settings, now, effects };
        if request.leaves() {
            group.leave(request, soft, &mut step)
        } else {
            group.heartbeat(request, image, soft, &mut step)
        }
    }

    /// A classic group without members gives its place to a consumer group; its offsets stay.
    fn leave_to_consumers(&self, group_id: &GroupId) -> Result<Option<GroupRecord>, GroupError> {
        if self.live.get(group_id).is_some_and(|it| !it.is_idle()) {
            return Err(GroupError::GroupIdNotFound);
        }
        Ok(self.classic_tombstone(group_id))
    }

    /// Likewise the other way round.
    ///
    /// # Errors
    ///
    /// [`GroupError::InconsistentGroupProtocol`] of a consumer group that has members.
    pub(in crate::group) fn bury_consumers(
        &self,
        group_id: &GroupId,
        effects: &mut Effects,
    ) -> Result<(), GroupError> {
        let Some(group) = self.consumers.get(group_id) else { return Ok(()) };
        if !group.is_empty() {
            return Err(GroupError::InconsistentGroupProtocol);
        }
        effects.records.extend(group.tombstones(group_id));
        Ok(())
    }

    /// # Errors
    ///
    /// [`GroupError::GroupIdNotFound`], or [`GroupError::OtherGroupType`] for a classic group.
    pub fn describe_consumer(
        &self,
        group_id: &GroupId,
    ) -> Result<DescribedConsumerGroup, GroupError> {
        match self.consumers.get(group_id) {
            Some(group) => Ok(group.describe(self.settings.consumer.assignors.first())),
            None if self.describe(group_id).is_ok() => Err(GroupError::OtherGroupType),
            None => Err(GroupError::GroupIdNotFound),
        }
    }

    /// A plugin has answered, or failed to.
    pub fn consumer_assigned(&mut self, answer: ConsumerAnswer, now: TimestampMs) -> Effects {
        let id = answer.group_id.clone();
        self.in_consumer_group(&id, now, |group, soft, step| {
            group.assigned(answer, soft, step);
        })
    }

    /// The effective `klamm.assignor` of a group has changed, or the version of its plugin: the next heartbeat asks anew.
    pub fn consumer_assignor_changed(&mut self, group_id: &GroupId) {
        if let Some(soft) = self.soft.get_mut(group_id) {
            soft.must_probe = true;
        }
    }

    /// Groups of this protocol that have members: those that an assignor may be asked for.
    pub fn consumer_protocol_groups(&self) -> Vec<GroupId> {
        let with_members = self.consumers.iter().filter(|it| !it.1.is_empty());
        with_members.map(|it| it.0.clone()).collect()
    }

    /// Topics came, went or grew, or brokers moved to other racks: groups look at their topics again at their next heartbeat.
    pub fn metadata_changed(&mut self) {
        for soft in self.soft.values_mut() {
            soft.metadata_changed();
        }
    }

    /// What the members of a group choose (`group.remote.assignor`); `None` for the default, and for a group of another type.
    pub fn remote_assignor(&self, group_id: &GroupId) -> Option<PluginName> {
        self.consumers.get(group_id)?.remote_assignor().cloned()
    }

    /// One result for each of `leaving`.
    pub(in crate::group) fn remove_consumers(
        &mut self,
        group_id: &GroupId,
        leaving: &[LeavingMember],
        now: TimestampMs,
    ) -> (Effects, Result<Vec<Result<(), GroupError>>, GroupError>) {
        let mut results = Vec::new();
        let effects = self.in_consumer_group(group_id, now, |group, soft, step| {
            results = group.remove(leaving, soft, step);
        });
        (effects, Ok(results))
    }

    pub(in crate::group) fn fire_consumer(&mut self, key: &TimerKey, now: TimestampMs) -> Effects {
        self.in_consumer_group(&key.group_id, now, |group, soft, step| {
            group.fire(&key.kind, soft, step);
        })
    }

    fn in_consumer_group(
        &mut self,
        group_id: &GroupId,
        now: TimestampMs,
        act: impl FnOnce(&ConsumerGroup, &mut Soft, &mut Step<'_>),
    ) -> Effects {
        let mut effects = Effects::default();
        let group = self.consumers.get(group_id);
        if let (Some(group), Some(soft)) = (group, self.soft.get_mut(group_id)) {
            let settings = &self.settings;
            act(group, soft, &mut Step { group_id, settings, now, effects: &mut effects });
        }
        effects
    }

    /// Sessions begin anew, each as long as the configs of its group say.
    pub(in crate::group) fn loaded_consumers(
        &mut self,
        times: &dyn Fn(&GroupId) -> ConsumerTimes,
        now: TimestampMs,
        effects: &mut Effects,
    ) {
        for (group_id, group) in &self.consumers {
            let soft = self.soft.entry(group_id.clone()).or_default();
            let settings = &self.settings;
            let mut step = Step { group_id, settings, now, effects };
            group.arm_all(soft, times(group_id).session_timeout_ms, &mut step);
        }
    }
}
