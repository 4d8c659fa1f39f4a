//! A classic group's members, its leader and its protocol.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Joined, JoinedMember, Member, Protocol, State, Step, assign::Assigning};
use crate::{
    base::{GroupId, MemberId, TimestampMs},
    group::{GroupError, GroupMetadata, GroupRecord, TimerKind},
};

#[derive(Clone, Debug)]
pub struct ClassicGroup {
    pub(super) id: GroupId,
    pub(super) state: State,
    pub(super) previous_state: State,
    pub(super) state_timestamp: Option<TimestampMs>,
    /// Of the first member; `None` for a group that only has offsets.
    pub(super) protocol_type: Option<Arc<str>>,
    /// Chosen for this generation.
    pub(super) protocol: Option<Arc<str>>,
    pub(super) generation_id: i32,
    pub(super) leader: Option<MemberId>,
    pub(super) members: BTreeMap<MemberId, Member>,
    pub(super) static_members: BTreeMap<Arc<str>, MemberId>,
    /// Ids that were given out (KIP-394) and have not joined yet.
    pub(super) pending: BTreeSet<MemberId>,
    /// Members of this generation that have sent no SyncGroup.
    pub(super) pending_sync: BTreeSet<MemberId>,
    pub(super) phase: super::phase::JoinPhase,
    pub(super) assigning: Assigning,
}

impl ClassicGroup {
    pub fn new(id: GroupId) -> Self {
        Self {
            id,
            state: State::Empty,
            previous_state: State::Empty,
            state_timestamp: None,
            protocol_type: None,
            protocol: None,
            generation_id: 0,
            leader: None,
            members: BTreeMap::new(),
            static_members: BTreeMap::new(),
            pending: BTreeSet::new(),
            pending_sync: BTreeSet::new(),
            phase: super::phase::JoinPhase::default(),
            assigning: Assigning::default(),
        }
    }

    /// The group as its newest record tells: stable with its members, or empty. Sessions begin anew.
    pub fn loaded(id: GroupId, stored: &GroupMetadata, step: &mut Step<'_>) -> Self {
        let mut group = Self::new(id);
        group.generation_id = stored.generation_id;
        group.state_timestamp = stored.state_timestamp;
        group.protocol_type = Some(stored.protocol_type.clone()).filter(|it| !it.is_empty());
        for member in &stored.members {
            group.insert(Member::load(member, stored.protocol.as_ref()));
        }
        if !group.members.is_empty() {
            group.state = State::Stable;
            group.protocol.clone_from(&stored.protocol);
            group.leader =
                stored.leader.clone().filter(|id| group.members.contains_key(id)).or(group.leader);
        }
        for id in group.member_ids() {
            group.touch(&id, step);
        }
        if group.members.len() > step.settings.max_size {
            group.prepare_rebalance(step);
        }
        group
    }

    pub fn state(&self) -> State {
        self.state
    }

    pub fn generation_id(&self) -> i32 {
        self.generation_id
    }

    pub fn state_timestamp(&self) -> Option<TimestampMs> {
        self.state_timestamp
    }

    pub fn protocol_type(&self) -> Option<&Arc<str>> {
        self.protocol_type.as_ref()
    }

    /// The protocol that the members use; `None` while none is chosen.
    pub fn protocol(&self) -> Option<&Arc<str>> {
        self.protocol.as_ref()
    }

    pub fn members(&self) -> impl ExactSizeIterator<Item = &Member> {
        self.members.values()
    }

    /// Whether nothing would be lost if the group were forgotten.
    pub fn is_idle(&self) -> bool {
        self.state == State::Empty && self.pending.is_empty()
    }

    /// The topics that a stable consumer group reads; `None` when that is not known.
    pub fn subscribed_topics(&self) -> Option<BTreeSet<crate::base::TopicName>> {
        let protocol = self.protocol.as_ref().filter(|_| self.uses_consumer_protocol())?;
        let mut topics = BTreeSet::new();
        for member in self.members.values() {
            topics.extend(super::Subscribed::topics(&member.metadata(protocol))?);
        }
        Some(topics)
    }

    pub(super) fn uses_consumer_protocol(&self) -> bool {
        self.protocol_type.as_deref() == Some("consumer")
    }

    pub(super) fn member_ids(&self) -> Vec<MemberId> {
        self.members.keys().cloned().collect()
    }

    pub(super) fn become_state(&mut self, next: State, now: TimestampMs) {
        assert!(self.state.may_become(next), "{} cannot become {next}", self.state);
        self.previous_state = self.state;
        self.state = next;
        self.state_timestamp = Some(now);
    }

    /// Checks that a request comes from the member that it names.
    ///
    /// # Errors
    ///
    /// [`GroupError::UnknownMemberId`]; [`GroupError::FencedInstanceId`] when another member has the instance id.
    pub(super) fn validate_member(
        &self,
        member_id: &MemberId,
        group_instance_id: Option<&Arc<str>>,
    ) -> Result<(), GroupError> {
        if let Some(instance) = group_instance_id {
            match self.static_members.get(instance) {
                None => return Err(GroupError::UnknownMemberId),
                Some(current) if current != member_id => return Err(GroupError::FencedInstanceId),
                Some(_) => {}
            }
        }
        if self.members.contains_key(member_id) { Ok(()) } else { Err(GroupError::UnknownMemberId) }
    }

    pub(super) fn is_leader(&self, member_id: &MemberId) -> bool {
        self.leader.as_ref() == Some(member_id)
    }

    pub(super) fn insert(&mut self, member: Member) {
        self.pending.remove(&member.id);
        if let Some(instance) = &member.group_instance_id {
            self.static_members.insert(instance.clone(), member.id.clone());
        }
        self.leader.get_or_insert_with(|| member.id.clone());
        self.members.insert(member.id.clone(), member);
    }

    /// Removes a member or pending id; who waited under it is told that it is unknown.
    pub(super) fn remove(&mut self, member_id: &MemberId, step: &mut Step<'_>) {
        self.pending.remove(member_id);
        self.pending_sync.remove(member_id);
        let Some(member) = self.members.remove(member_id) else { return };
        Self::dismiss(&member, &GroupError::UnknownMemberId, step);
        if let Some(instance) = &member.group_instance_id {
            self.static_members.remove(instance);
        }
        if self.is_leader(member_id) {
            self.leader = self.members.keys().next().cloned();
        }
    }

    /// Answers whatever a member waits for with an error.
    pub(super) fn dismiss(member: &Member, why: &GroupError, step: &mut Step<'_>) {
        if let Some(ticket) = member.awaiting_join {
            step.effects.join(ticket, Err(why.clone()));
        }
        if let Some(ticket) = member.awaiting_sync {
            step.effects.sync(ticket, Err(why.clone()));
        }
    }

    /// The member has shown that it lives.
    pub(super) fn touch(&mut self, member_id: &MemberId, step: &mut Step<'_>) {
        let timeout = self.members.get(member_id).map_or(0, |it| it.session_timeout_ms);
        self.keep_until(member_id, step.after(timeout.into()), step);
    }

    pub(super) fn keep_until(
        &mut self,
        member_id: &MemberId,
        deadline: TimestampMs,
        step: &mut Step<'_>,
    ) {
        let Some(member) = self.members.get_mut(member_id) else { return };
        if let Some(at) = member.session.keep_until(deadline) {
            step.effects.timer(at, &self.id, TimerKind::Session(member_id.clone()));
        }
    }

    /// The longest of the members' rebalance timeouts.
    pub(super) fn rebalance_timeout_ms(&self) -> i64 {
        self.members.values().map(|it| i64::from(it.rebalance_timeout_ms)).max().unwrap_or(0)
    }

    /// Whether a joining member has a protocol that all others have too.
    pub(super) fn supports_protocols(&self, protocol_type: &str, protocols: &[Protocol]) -> bool {
        if protocol_type.is_empty() || protocols.is_empty() {
            return false;
        }
        if self.members.is_empty() {
            return true;
        }
        self.protocol_type.as_deref() == Some(protocol_type)
            && protocols.iter().any(|it| self.members.values().all(|m| m.supports(&it.name)))
    }

    /// Each member votes for the first of its protocols that all have; most votes win, of equals
    /// the first by name.
    pub(super) fn select_protocol(&self) -> Option<Arc<str>> {
        let candidates = self.common_protocols();
        let mut votes: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
        for member in self.members.values() {
            let mut names = member.protocols.iter().map(|it| &it.name);
            if let Some(name) = names.find(|it| candidates.contains(*it)) {
                *votes.entry(name).or_default() += 1;
            }
        }
        votes
            .into_iter()
            .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0)))
            .map(|(name, _)| name.clone())
    }

    fn common_protocols(&self) -> BTreeSet<&Arc<str>> {
        let mut members_with: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
        for member in self.members.values() {
            // A name that a member lists twice counts once.
            let names: BTreeSet<&Arc<str>> = member.protocols.iter().map(|it| &it.name).collect();
            for name in names {
                *members_with.entry(name).or_default() += 1;
            }
        }
        let all = self.members.len();
        members_with.into_iter().filter(|it| it.1 == all).map(|it| it.0).collect()
    }

    /// This generation as `member_id` is told of it.
    pub(super) fn joined(&self, member_id: &MemberId) -> Joined {
        Joined {
            generation_id: self.generation_id,
            protocol_type: self.protocol_type.clone(),
            protocol_name: self.protocol.clone(),
            leader: self.leader.clone().unwrap_or_else(|| "".into()),
            member_id: member_id.clone(),
            skip_assignment: false,
            members: if self.is_leader(member_id) { self.joined_members() } else { Vec::new() },
        }
    }

    fn joined_members(&self) -> Vec<JoinedMember> {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        self.members
            .values()
            .map(|it| JoinedMember {
                member_id: it.id.clone(),
                group_instance_id: it.group_instance_id.clone(),
                metadata: it.metadata(protocol),
            })
            .collect()
    }

    /// The record of this generation.
    pub(super) fn record(&self) -> GroupRecord {
        let protocol = self.protocol.as_deref();
        let value = GroupMetadata {
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            generation_id: self.generation_id,
            protocol: self.protocol.clone(),
            leader: self.leader.clone(),
            state_timestamp: self.state_timestamp,
            members: self.members.values().map(|it| it.stored(protocol)).collect(),
        };
        GroupRecord::GroupMetadata { group_id: self.id.clone(), value: Some(value) }
    }
}
