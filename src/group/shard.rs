//! The groups of one partition of `__consumer_offsets`.
//!
//! Stored state (offsets, and the last generation of each group) changes in [`Shard::replay`] alone. Live
//! groups are soft: [`Shard::loaded`] makes them from what is stored.

use std::collections::{BTreeMap, HashMap};

use super::{
    Effects, GroupError, GroupMetadata, GroupRecord, Ticket, TimerKey,
    classic::{
        AssignorAnswer, ClassicGroup, HeartbeatRequest, JoinRequest, LeavingMember, State, Step,
        SyncRequest,
    },
    offsets::{Offsets, tombstone},
};
use crate::{
    base::{GroupId, PluginName, TimestampMs},
    config::GroupConfig,
    machine::Machine,
    metadata::MetadataImage,
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
            GroupRecord::ConsumerGroup { .. }
            | GroupRecord::ConsumerMember { .. }
            | GroupRecord::ConsumerTarget { .. }
            | GroupRecord::ConsumerTargetMember { .. }
            | GroupRecord::ConsumerCurrent { .. }
            | GroupRecord::ConsumerRegex { .. } => {} // k1
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
        }
    }

    /// The log has been replayed: groups come to life, and their sessions begin anew.
    pub fn loaded(&mut self, image: &MetadataImage, now: TimestampMs) -> Effects {
        let _ = image;
        let mut effects = Effects::default();
        for (id, stored) in &self.stored {
            let mut step = Step { settings: &self.settings, now, effects: &mut effects };
            self.live.insert(id.clone(), ClassicGroup::loaded(id.clone(), stored, &mut step));
        }
        effects
    }

    pub fn join(&mut self, request: JoinRequest, ticket: Ticket, now: TimestampMs) -> Effects {
        let mut effects = Effects::default();
        if let Err(error) = self.admit_join(&request) {
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
        let is_stored = self.stored.contains_key(group_id) || !effects.records.is_empty();
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
        let (effects, _) = self.in_group(&key.group_id, now, |group, step| {
            group.fire(&key.kind, step);
            Ok(())
        });
        self.forget_if_nothing(&key.group_id, &effects);
        effects
    }

    /// Whether a timer that was armed may still find something to do.
    pub fn awaits(&self, key: &TimerKey) -> bool {
        self.live.get(&key.group_id).is_some_and(|it| it.awaits(&key.kind))
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
        let result = self.describe(group_id).and_then(|it| match it.state {
            State::Empty => Ok(()),
            State::Dead => Err(GroupError::GroupIdNotFound),
            _ => Err(GroupError::NonEmptyGroup),
        });
        if result.is_ok() {
            let offsets = self.offsets.of(group_id).map(|(tp, _)| tombstone(group_id, tp.clone()));
            effects.records.extend(offsets);
            self.forget(group_id, &mut effects);
        }
        (effects, result)
    }

    pub(super) fn forget(&mut self, group_id: &GroupId, effects: &mut Effects) {
        self.live.remove(group_id);
        if self.stored.contains_key(group_id) {
            let record = GroupRecord::GroupMetadata { group_id: group_id.clone(), value: None };
            effects.records.push(record);
        }
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
    pub(super) fn stored_state(&self) -> (&BTreeMap<GroupId, GroupMetadata>, &Offsets) {
        (&self.stored, &self.offsets)
    }

    #[cfg(test)]
    pub(super) fn group(&self, id: &str) -> Option<&ClassicGroup> {
        self.live.get(id)
    }
}

fn require_group_id(group_id: &GroupId) -> Result<(), GroupError> {
    if group_id.as_str().is_empty() { Err(GroupError::InvalidGroupId) } else { Ok(()) }
}
