//! `JoinGroup`: who may come in, under which id, and whether that begins a rebalance.

use super::{ClassicGroup, JoinRequest, Member, State, Step};
use crate::{
    base::MemberId,
    group::{GroupError, Ticket, TimerKind, session::Session},
};

/// A new member cannot know its id before its first join is answered, so it cannot send heartbeats and a
/// broken connection goes unseen: it is given this long.
const NEW_MEMBER_JOIN_TIMEOUT_MS: i64 = 5 * 60 * 1000;

/// Bytes that all members of a group may have told. A generation's record holds those of one protocol, and has room for
/// less than 1 MiB.
const GROUP_METADATA_BYTES_MAX: usize = 16 * 1024 * 1024;

impl ClassicGroup {
    /// Answers `ticket`, now or when the join phase ends.
    pub fn join(&mut self, request: JoinRequest, ticket: Ticket, step: &mut Step<'_>) {
        let has_room = self.has_room_for(&request.member_id, step.settings.max_size)
            && self.metadata_bytes() + request.metadata_bytes() <= GROUP_METADATA_BYTES_MAX;
        let joined = if !has_room {
            self.remove(&request.member_id, step);
            Err(GroupError::GroupMaxSizeReached)
        } else if !self.supports_protocols(&request.protocol_type, &request.protocols) {
            Err(GroupError::InconsistentGroupProtocol)
        } else if request.member_id.as_str().is_empty() {
            self.join_new(request, ticket, step)
        } else {
            self.join_known(request, ticket, step)
        };
        if let Err(error) = joined {
            step.effects.join(ticket, Err(error));
        }
    }

    /// A rebalancing group counts those who wait, since the others may not come back.
    fn has_room_for(&self, member_id: &MemberId, max_size: usize) -> bool {
        let waits = |it: &Member| it.awaiting_join.is_some();
        match self.state {
            State::Empty | State::Dead => true,
            State::PreparingRebalance => {
                self.members.get(member_id).is_some_and(waits)
                    || self.members.values().filter(|it| waits(it)).count() < max_size
            }
            State::CompletingRebalance | State::Stable => {
                self.members.contains_key(member_id) || self.members.len() < max_size
            }
        }
    }

    fn metadata_bytes(&self) -> usize {
        self.members.values().map(Member::metadata_bytes).sum()
    }

    fn join_new(
        &mut self,
        request: JoinRequest,
        ticket: Ticket,
        step: &mut Step<'_>,
    ) -> Result<(), GroupError> {
        let new_id = request.new_member_id.clone();
        let replaced = request
            .group_instance_id
            .as_ref()
            .and_then(|instance| self.static_members.get(instance))
            .cloned();
        if let Some(old_id) = replaced {
            self.replace_static(&old_id, request, ticket, step);
            return Ok(());
        }
        if request.group_instance_id.is_none() && request.requires_known_member_id {
            if self.pending.len() >= step.settings.max_size {
                return Err(GroupError::GroupMaxSizeReached);
            }
            self.pending.insert(new_id.clone());
            let at = step.after(request.session_timeout_ms.into());
            step.effects.timer(at, &self.id, TimerKind::Session(new_id.clone()));
            return Err(GroupError::MemberIdRequired(new_id));
        }
        self.add_member(new_id, request, ticket, step);
        Ok(())
    }

    fn add_member(
        &mut self,
        id: MemberId,
        request: JoinRequest,
        ticket: Ticket,
        step: &mut Step<'_>,
    ) {
        if self.state == State::PreparingRebalance && self.previous_state == State::Empty {
            self.phase.new_member_added = true;
        }
        if self.members.is_empty() {
            self.protocol_type = Some(request.protocol_type.clone());
        }
        self.insert(Member {
            id: id.clone(),
            group_instance_id: request.group_instance_id,
            client_id: request.client_id,
            client_host: request.client_host,
            rebalance_timeout_ms: request.rebalance_timeout_ms,
            session_timeout_ms: request.session_timeout_ms,
            protocols: request.protocols,
            assignment: bytes::Bytes::new(),
            awaiting_join: Some(ticket),
            awaiting_sync: None,
            is_new: true,
            session: Session::default(),
        });
        self.keep_until(&id, step.after(NEW_MEMBER_JOIN_TIMEOUT_MS), step);
        self.rebalance_or_complete(step);
    }

    fn join_known(
        &mut self,
        request: JoinRequest,
        ticket: Ticket,
        step: &mut Step<'_>,
    ) -> Result<(), GroupError> {
        let id = request.member_id.clone();
        // A pending id was given to a dynamic member; a static one cannot claim it.
        if self.pending.contains(&id) && request.group_instance_id.is_none() {
            self.add_member(id, request, ticket, step);
            return Ok(());
        }
        self.validate_member(&id, request.group_instance_id.as_ref())?;
        if self.must_rebalance_for(&id, &request) {
            self.update_member(&id, request, ticket, step);
            self.rebalance_or_complete(step);
        } else {
            // It missed the answer to its join: told again, nothing changes.
            let joined = self.joined(&id);
            step.effects.join(ticket, Ok(joined));
        }
        Ok(())
    }

    fn must_rebalance_for(&self, id: &MemberId, request: &JoinRequest) -> bool {
        let unchanged = self.members.get(id).is_some_and(|it| it.protocols == request.protocols);
        match self.state {
            State::PreparingRebalance => true,
            State::CompletingRebalance => !unchanged,
            // A leader joins again to have the assignment made anew, for what it alone may know; so does anyone once
            // another assignor would make it.
            State::Stable => {
                self.is_leader(id)
                    || !unchanged
                    || self.has_other_assignor(request.assignor.as_ref())
            }
            State::Empty | State::Dead => false,
        }
    }

    /// Takes over what a join tells of a member that is there already. What it still waited for (its
    /// connection broke) is answered first.
    pub(super) fn update_member(
        &mut self,
        id: &MemberId,
        request: JoinRequest,
        ticket: Ticket,
        step: &mut Step<'_>,
    ) {
        let Some(member) = self.members.get_mut(id) else { return };
        Self::dismiss(member, &GroupError::RebalanceInProgress, step);
        member.awaiting_sync = None;
        member.awaiting_join = Some(ticket);
        member.protocols = request.protocols;
        member.rebalance_timeout_ms = request.rebalance_timeout_ms;
        member.session_timeout_ms = request.session_timeout_ms;
        member.client_id = request.client_id;
        member.client_host = request.client_host;
    }
}
