//! `SyncGroup`: the leader brings the assignment, everyone gets their part once it is stored.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use super::{ClassicGroup, State, Step, SyncRequest, Synced};
use crate::{
    base::MemberId,
    group::{GroupError, Ticket},
};

/// A generation's record must fit a batch of `__consumer_offsets` (`max.message.bytes`, 1 MiB and 12 bytes by
/// default), with room for its key and the batch's header.
const RECORD_BYTES_MAX: usize = 1024 * 1024 - 64 * 1024;

impl ClassicGroup {
    /// Answers `ticket`, now or when the assignment is there.
    pub fn sync(&mut self, request: SyncRequest, ticket: Ticket, step: &mut Step<'_>) {
        if let Err(error) = self.admit_sync(&request) {
            step.effects.sync(ticket, Err(error));
            return;
        }
        self.pending_sync.remove(&request.member_id);
        if self.state == State::Stable {
            self.answer_sync(&request.member_id, ticket, step);
            return;
        }
        self.await_sync(&request.member_id, ticket, step);
        if self.is_leader(&request.member_id) {
            self.lead(request.assignments, request.assignor, step);
        }
    }

    /// In the order in which Kafka checks.
    fn admit_sync(&self, request: &SyncRequest) -> Result<(), GroupError> {
        self.validate_member(&request.member_id, request.group_instance_id.as_ref())?;
        if request.generation_id != self.generation_id {
            return Err(GroupError::IllegalGeneration);
        }
        let differs = |asked: &Option<Arc<str>>, ours: &Option<Arc<str>>| {
            asked.is_some() && ours.is_some() && asked != ours
        };
        if differs(&request.protocol_type, &self.protocol_type)
            || differs(&request.protocol_name, &self.protocol)
        {
            return Err(GroupError::InconsistentGroupProtocol);
        }
        match self.state {
            State::Empty | State::Dead => Err(GroupError::UnknownMemberId),
            State::PreparingRebalance => Err(GroupError::RebalanceInProgress),
            State::CompletingRebalance | State::Stable => Ok(()),
        }
    }

    fn await_sync(&mut self, id: &MemberId, ticket: Ticket, step: &mut Step<'_>) {
        let Some(member) = self.members.get_mut(id) else { return };
        if let Some(older) = member.awaiting_sync.replace(ticket) {
            step.effects.sync(older, Err(GroupError::RebalanceInProgress));
        }
    }

    /// Ends the rebalance: stores who reads what, then tells those who wait. Members that the assignment leaves out get nothing.
    pub(super) fn finish(
        &mut self,
        mut assignments: BTreeMap<MemberId, Bytes>,
        step: &mut Step<'_>,
    ) {
        for (id, member) in &mut self.members {
            member.assignment = assignments.remove(id).unwrap_or_default();
        }
        let record = self.record();
        if record.encode().value.is_some_and(|it| it.len() > RECORD_BYTES_MAX) {
            self.refuse_too_large(step);
            return;
        }
        self.become_state(State::Stable, step.now);
        step.effects.records.push(record);
        for id in self.member_ids() {
            let waiting = self.members.get_mut(&id).and_then(|it| it.awaiting_sync.take());
            if let Some(ticket) = waiting {
                self.answer_sync(&id, ticket, step);
            }
        }
    }

    /// The members' metadata are too much to store: the group tries again, as Kafka's does.
    fn refuse_too_large(&mut self, step: &mut Step<'_>) {
        for member in self.members.values_mut() {
            member.assignment = Bytes::new();
            if let Some(ticket) = member.awaiting_sync.take() {
                step.effects.sync(ticket, Err(GroupError::RecordTooLarge));
            }
        }
        self.prepare_rebalance(step);
    }

    fn answer_sync(&mut self, id: &MemberId, ticket: Ticket, step: &mut Step<'_>) {
        let synced = Synced {
            protocol_type: self.protocol_type.clone(),
            protocol_name: self.protocol.clone(),
            assignment: self.members.get(id).map(|it| it.assignment.clone()).unwrap_or_default(),
        };
        step.effects.sync(ticket, Ok(synced));
        self.touch(id, step);
    }
}
