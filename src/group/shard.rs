//! The groups of one partition of `__consumer_offsets`.
//!
//! Stored state (offsets, and the last generation of each group) changes in [`Shard::replay`] alone. Live
//! groups are soft: [`Shard::loaded`] makes them from what is stored.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use bytes::Bytes;

use super::{
    CommitOffsets, Effects, GroupError, GroupMetadata, GroupRecord, OffsetCommit, Ticket, TimerKey,
    classic::{
        AssignorAnswer, ClassicGroup, HeartbeatRequest, JoinRequest, LeavingMember, Member, State,
        Step, SyncRequest,
    },
    offsets::{Offsets, Retention, tombstone},
};
use crate::{
    base::{GroupId, MemberId, PluginName, TimestampMs, TopicId, TopicName, TopicPartition},
    config::GroupConfig,
    machine::Machine,
};

/// Protocols that a member may offer; they are compared with all other members'. Clients offer one or two.
const PROTOCOLS_MAX: usize = 100;

pub struct Shard {
    settings: GroupConfig,
    stored: BTreeMap<GroupId, GroupMetadata>,
    offsets: Offsets,
    live: HashMap<GroupId, ClassicGroup>,
}

/// A line of `ListGroups`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGroup {
    pub group_id: GroupId,
    /// Empty for a group that only has offsets.
    pub protocol_type: Arc<str>,
    pub state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedGroup {
    pub state: State,
    pub protocol_type: Arc<str>,
    /// Empty unless the group is stable.
    pub protocol: Arc<str>,
    pub members: Vec<DescribedMember>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedMember {
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    /// Both empty unless the group is stable.
    pub metadata: Bytes,
    pub assignment: Bytes,
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
    pub fn loaded(&mut self, now: TimestampMs) -> Effects {
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
        let id = request.group_id.clone();
        let group = self.live.entry(id).or_insert_with_key(|id| ClassicGroup::new(id.clone()));
        let mut step = Step { settings: &self.settings, now, effects: &mut effects };
        group.join(request, ticket, &mut step);
        effects
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
        effects
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

    /// The committed offset of each partition asked for; of all that have one if `None`.
    pub fn fetch(
        &self,
        group_id: &GroupId,
        partitions: Option<Vec<TopicPartition>>,
    ) -> Vec<(TopicPartition, Option<OffsetCommit>)> {
        match partitions {
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
        }
    }

    pub fn committed(&self, group_id: &GroupId, tp: &TopicPartition) -> Option<&OffsetCommit> {
        self.offsets.get(group_id, tp)
    }

    pub fn list(&self) -> Vec<ListedGroup> {
        let live = self.live.iter().map(|(id, group)| ListedGroup {
            group_id: id.clone(),
            protocol_type: group.protocol_type().cloned().unwrap_or_default(),
            state: group.state(),
        });
        let simple = self.offsets.group_ids().filter(|id| !self.live.contains_key(*id));
        let simple = simple.map(|id| ListedGroup {
            group_id: id.clone(),
            protocol_type: "".into(),
            state: State::Empty,
        });
        live.chain(simple).collect()
    }

    /// # Errors
    ///
    /// [`GroupError::GroupIdNotFound`].
    pub fn describe(&self, group_id: &GroupId) -> Result<DescribedGroup, GroupError> {
        match self.live.get(group_id) {
            Some(group) => Ok(describe(group)),
            None if self.offsets.has(group_id) => Ok(DescribedGroup {
                state: State::Empty,
                protocol_type: "".into(),
                protocol: "".into(),
                members: Vec::new(),
            }),
            None => Err(GroupError::GroupIdNotFound),
        }
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

    fn forget(&mut self, group_id: &GroupId, effects: &mut Effects) {
        self.live.remove(group_id);
        if self.stored.contains_key(group_id) {
            let record = GroupRecord::GroupMetadata { group_id: group_id.clone(), value: None };
            effects.records.push(record);
        }
    }

    /// Removes offsets whose retention is over, and groups of which nothing is left.
    pub fn expire(&mut self, now: TimestampMs) -> Effects {
        let mut effects = Effects::default();
        let retention_ms = self.settings.offsets_retention_minutes.saturating_mul(60_000);
        let with_offsets = self.offsets.group_ids();
        let ids: BTreeSet<GroupId> = with_offsets.chain(self.live.keys()).cloned().collect();
        for id in ids {
            let expired = self.offsets.expired(&id, &self.retention(&id), retention_ms, now);
            let all = expired.len() == self.offsets.of(&id).count();
            effects.records.extend(expired.into_iter().map(|tp| tombstone(&id, tp)));
            if all && self.live.get(&id).is_some_and(ClassicGroup::is_idle) {
                self.forget(&id, &mut effects);
            }
        }
        effects
    }

    fn retention(&self, group_id: &GroupId) -> Retention {
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

/// What members tell and got is shown of a stable group only: before, it is not settled.
fn describe(group: &ClassicGroup) -> DescribedGroup {
    let stable = group.state() == State::Stable;
    let protocol = group.protocol().filter(|_| stable).cloned().unwrap_or_default();
    let member = |it: &Member| DescribedMember {
        member_id: it.id.clone(),
        group_instance_id: it.group_instance_id.clone(),
        client_id: it.client_id.clone(),
        client_host: it.client_host.clone(),
        metadata: it.metadata(&protocol),
        assignment: if stable { it.assignment.clone() } else { Bytes::new() },
    };
    DescribedGroup {
        state: group.state(),
        protocol_type: group.protocol_type().cloned().unwrap_or_default(),
        members: group.members().map(member).collect(),
        protocol,
    }
}
