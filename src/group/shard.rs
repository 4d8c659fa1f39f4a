//! The groups of one partition of `__consumer_offsets`.
//!
//! Stored state (offsets, the last generation of each classic group, and consumer groups) changes in [`Shard::replay`]
//! alone. Live classic groups are soft: [`Shard::loaded`] makes them from what is stored. A group is of one type at a time.

use std::collections::{BTreeMap, HashMap};

use super::{
    Effects, GroupError, GroupMetadata, GroupRecord, Ticket, TimerKey,
    classic::{
        AssignorAnswer, ClassicGroup, HeartbeatRequest, JoinRequest, LeavingMember, State, Step,
        SyncRequest,
    },
    consumer::{ConsumerGroup, Soft},
    offsets::{Offsets, tombstone},
};
use crate::{
    base::{GroupId, PluginName, TimestampMs},
    config::{GroupConfig, group::ConsumerTimes},
    machine::Machine,
};

/// Protocols that a member may offer; they are compared with all other members'. Clients offer one or two.
const PROTOCOLS_MAX: usize = 100;

/// Bytes that one member may tell its leader, in all its protocols. A generation with more could not be stored.
const MEMBER_METADATA_BYTES_MAX: usize = 1024 * 1024;

pub struct Shard {
    pub(super) settings: GroupConfig,
    stored: BTreeMap<GroupId, GroupMetadata>,
    pub(super) offsets: Offsets,
    pub(super) live: HashMap<GroupId, ClassicGroup>,
    /// Of the other protocol: stored …
    pub(super) consumers: BTreeMap<GroupId, ConsumerGroup>,
    /// … and soft.
    pub(super) soft: HashMap<GroupId, Soft>,
}

impl Machine for Shard {
    type Record = GroupRecord;

    fn replay(&mut self, record: GroupRecord) {
        match record {
            GroupRecord::OffsetCommit { group_id, topic_partition, value } => {
                self.offsets.replay(group_id, topic_partition, value);
            }
            GroupRecord::GroupMetadata { group_id, value: Some(value) } => {
                self.stored.insert(group_id, value);
            }
            GroupRecord::GroupMetadata { group_id, value: None } => {
                self.stored.remove(&group_id);
            }
            consumers => self.replay_consumers(consumers),
        }
    }
}

impl Shard {
    pub fn new(settings: GroupConfig) -> Self {
        Self {
            settings,
            stored: BTreeMap::new(),
            offsets: Offsets::default(),
            live: HashMap::new(),
            consumers: BTreeMap::new(),
            soft: HashMap::new(),
        }
    }

    /// The log has been replayed: groups come to life, and their sessions begin anew; `times` are those of consumer groups.
    pub fn loaded(
        &mut self,
        times: &dyn Fn(&GroupId) -> ConsumerTimes,
        now: TimestampMs,
    ) -> Effects {
        let mut effects = Effects::default();
        for (id, stored) in &self.stored {
            let mut step = Step { settings: &self.settings, now, effects: &mut effects };
            self.live.insert(id.clone(), ClassicGroup::loaded(id.clone(), stored, &mut step));
        }
        self.loaded_consumers(times, now, &mut effects);
        effects
    }

    pub fn join(&mut self, request: JoinRequest, ticket: Ticket, now: TimestampMs) -> Effects {
        let mut effects = Effects::default();
        let admitted = self.admit_join(&request);
        if let Err(error) =
            admitted.and_then(|()| self.bury_consumers(&request.group_id, &mut effects))
        {
            effects.join(ticket, Err(error));
            return effects;
        }
        let group_id = request.group_id.clone();
        let group = self
            .live
            .entry(group_id.clone())
            .or_insert_with_key(|id| ClassicGroup::new(id.clone()));
        let mut step = Step { settings: &self.settings, now, effects: &mut effects };
        group.join(request, ticket, &mut step);
        self.forget_if_nothing(&group_id, &effects);
        effects
    }

    /// Forgets a group that never had a member: a refused join leaves nothing behind.
    fn forget_if_nothing(&mut self, group_id: &GroupId, effects: &Effects) {
        let is_new = |it: &GroupRecord| matches!(it, GroupRecord::GroupMetadata { .. });
        let is_stored = self.stored.contains_key(group_id) || effects.records.iter().any(is_new);
        if !is_stored && self.live.get(group_id).is_some_and(ClassicGroup::is_idle) {
            self.live.remove(group_id);
        }
    }

    fn admit_join(&self, request: &JoinRequest) -> Result<(), GroupError> {
        require_group_id(&request.group_id)?;
        let allowed = self.settings.min_session_timeout_ms..=self.settings.max_session_timeout_ms;
        if !allowed.contains(&request.session_timeout_ms) {
            return Err(GroupError::InvalidSessionTimeout);
        }
        if request.protocols.len() > PROTOCOLS_MAX {
            return Err(GroupError::InconsistentGroupProtocol);
        }
        if request.metadata_bytes() > MEMBER_METADATA_BYTES_MAX {
            return Err(GroupError::RecordTooLarge);
        }
        let is_new = request.member_id.as_str().is_empty();
        if !is_new && !self.live.contains_key(&request.group_id) {
            return Err(GroupError::UnknownMemberId);
        }
        Ok(())
    }

    pub fn sync(&mut self, request: SyncRequest, ticket: Ticket, now: TimestampMs) -> Effects {
        let mut effects = Effects::default();
        match self.member_group(&request.group_id.clone(), now, &mut effects) {
            Ok((group, mut step)) => group.sync(request, ticket, &mut step),
            Err(error) => effects.sync(ticket, Err(error)),
        }
        effects
    }

    pub fn heartbeat(
        &mut self,
        request: &HeartbeatRequest,
        now: TimestampMs,
    ) -> (Effects, Result<(), GroupError>) {
        self.in_group(&request.group_id, now, |group, step| group.heartbeat(request, step))
    }

    /// One result for each of `leaving`, or one error for all.
    pub fn leave(
        &mut self,
        group_id: &GroupId,
        leaving: &[LeavingMember],
        now: TimestampMs,
    ) -> (Effects, Result<Vec<Result<(), GroupError>>, GroupError>) {
        if self.consumers.contains_key(group_id) {
            return self.remove_consumers(group_id, leaving, now);
        }
        self.in_group(group_id, now, |group, step| Ok(group.leave(leaving, step)))
    }

    fn in_group<T>(
        &mut self,
        group_id: &GroupId,
        now: TimestampMs,
        act: impl FnOnce(&mut ClassicGroup, &mut Step<'_>) -> Result<T, GroupError>,
    ) -> (Effects, Result<T, GroupError>) {
        let mut effects = Effects::default();
        let result = self
            .member_group(group_id, now, &mut effects)
            .and_then(|(group, mut step)| act(group, &mut step));
        (effects, result)
    }

    /// The group of a request that only a member sends.
    fn member_group<'a>(
        &'a mut self,
        group_id: &GroupId,
        now: TimestampMs,
        effects: &'a mut Effects,
    ) -> Result<(&'a mut ClassicGroup, Step<'a>), GroupError> {
        require_group_id(group_id)?;
        let group = self.live.get_mut(group_id).ok_or(GroupError::UnknownMemberId)?;
        Ok((group, Step { settings: &self.settings, now, effects }))
    }

    pub fn fire(&mut self, key: &TimerKey, now: TimestampMs) -> Effects {
        if self.consumers.contains_key(&key.group_id) {
            return self.fire_consumer(key, now);
        }
        let (effects, _) = self.in_group(&key.group_id, now, |group, step| {
            group.fire(&key.kind, step);
            Ok(())
        });
        self.forget_if_nothing(&key.group_id, &effects);
        effects
    }

    /// Whether a timer that was armed may still find something to do.
    pub fn awaits(&self, key: &TimerKey) -> bool {
        let consumers = self.consumers.get(&key.group_id);
        consumers.is_some_and(|it| it.awaits(&key.kind))
            || self.live.get(&key.group_id).is_some_and(|it| it.awaits(&key.kind))
    }

    pub fn assigned(&mut self, answer: AssignorAnswer, now: TimestampMs) -> Effects {
        let id = answer.group_id.clone();
        let (effects, _) = self.in_group(&id, now, |group, step| {
            group.assigned(answer, step);
            Ok(())
        });
        effects
    }

    pub fn assignor_changed(
        &mut self,
        group_id: &GroupId,
        assignor: Option<PluginName>,
        now: TimestampMs,
    ) -> Effects {
        let (effects, _) = self.in_group(group_id, now, |group, step| {
            group.assignor_changed(assignor, step);
            Ok(())
        });
        effects
    }

    /// Removes a group without members, with its offsets.
    pub fn delete(&mut self, group_id: &GroupId) -> (Effects, Result<(), GroupError>) {
        let mut effects = Effects::default();
        let result = self.admit_deletion(group_id);
        if result.is_ok() {
            let offsets = self.offsets.of(group_id).map(|(tp, _)| tombstone(group_id, tp.clone()));
            effects.records.extend(offsets);
            self.forget(group_id, &mut effects);
        }
        (effects, result)
    }

    fn admit_deletion(&self, group_id: &GroupId) -> Result<(), GroupError> {
        if let Some(group) = self.consumers.get(group_id) {
            return if group.is_empty() { Ok(()) } else { Err(GroupError::NonEmptyGroup) };
        }
        match self.describe(group_id)?.state {
            State::Empty => Ok(()),
            State::Dead => Err(GroupError::GroupIdNotFound),
            _ => Err(GroupError::NonEmptyGroup),
        }
    }

    pub(super) fn forget(&mut self, group_id: &GroupId, effects: &mut Effects) {
        self.live.remove(group_id);
        effects.records.extend(self.classic_tombstone(group_id));
        if let Some(group) = self.consumers.get(group_id) {
            effects.records.extend(group.tombstones(group_id));
        }
    }

    pub(super) fn classic_tombstone(&self, group_id: &GroupId) -> Option<GroupRecord> {
        let record = GroupRecord::GroupMetadata { group_id: group_id.clone(), value: None };
        self.stored.contains_key(group_id).then_some(record)
    }

    /// Live groups of consumers: those that an assignor may answer for.
    pub fn consumer_groups(&self) -> Vec<GroupId> {
        let consumers = self
            .live
            .iter()
            .filter(|it| it.1.protocol_type().is_some_and(|it| **it == *"consumer"));
        consumers.map(|(id, _)| id.clone()).collect()
    }

    /// What a restart would find, to compare with.
    #[cfg(test)]
    pub(super) fn stored_state(&self) -> impl PartialEq + std::fmt::Debug {
        (&self.stored, &self.offsets, &self.consumers)
    }

    #[cfg(test)]
    pub(super) fn consumer_group(&self, id: &str) -> Option<&ConsumerGroup> {
        self.consumers.get(id)
    }

    #[cfg(test)]
    pub(super) fn group(&self, id: &str) -> Option<&ClassicGroup> {
        self.live.get(id)
    }
}

fn require_group_id(group_id: &GroupId) -> Result<(), GroupError> {
    if group_id.as_str().is_empty() { Err(GroupError::InvalidGroupId) } else { Ok(()) }
}
