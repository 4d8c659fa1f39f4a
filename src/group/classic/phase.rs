//! The join phase: from the first reason to rebalance until all members have joined or the time is up.

use super::{ClassicGroup, State, Step};
use crate::{
    base::MemberId,
    group::{GroupError, TimerKind},
};

#[derive(Clone, Debug, Default)]
pub(super) struct JoinPhase {
    /// Counts join phases, so that the timer of an older one does nothing.
    number: u64,
    /// Milliseconds that the first phase of an empty group may still be prolonged; `None` for other phases.
    initial_remaining_ms: Option<i64>,
    /// A member joined during this stretch of the initial delay.
    pub(super) new_member_added: bool,
}

impl JoinPhase {
    pub(super) fn is(&self, number: u64) -> bool {
        self.number == number
    }
}

impl ClassicGroup {
    /// After a change of members: begins a phase, or ends the one that runs if it waited for this.
    pub(super) fn rebalance_or_complete(&mut self, step: &mut Step<'_>) {
        if self.state.may_become(State::PreparingRebalance) {
            self.prepare_rebalance(step);
        } else {
            self.maybe_complete_join(step);
        }
    }

    pub(super) fn prepare_rebalance(&mut self, step: &mut Step<'_>) {
        if self.state == State::CompletingRebalance {
            self.abandon_sync(step);
        }
        let initial = self.state == State::Empty;
        self.become_state(State::PreparingRebalance, step.now);
        self.phase.number += 1;
        self.phase.initial_remaining_ms = None;
        if initial {
            self.delay_initial_rebalance(step);
        } else if self.all_have_joined() {
            self.complete_join(step);
        } else {
            self.arm_join(self.rebalance_timeout_ms(), step);
        }
    }

    /// The group is new: more members are probably on their way
    /// (`group.initial.rebalance.delay.ms`, KIP-134).
    fn delay_initial_rebalance(&mut self, step: &mut Step<'_>) {
        let delay = step.settings.initial_rebalance_delay_ms as i64;
        self.phase.new_member_added = false;
        self.phase.initial_remaining_ms = Some((self.rebalance_timeout_ms() - delay).max(0));
        self.arm_join(delay, step);
    }

    fn arm_join(&self, ms: i64, step: &mut Step<'_>) {
        step.effects.timer(step.after(ms), &self.id, TimerKind::Join(self.phase.number));
    }

    /// The time of a join phase is up.
    pub(super) fn join_timeout(&mut self, number: u64, step: &mut Step<'_>) {
        if self.state != State::PreparingRebalance || number != self.phase.number {
            return;
        }
        match self.phase.initial_remaining_ms {
            Some(remaining) if self.phase.new_member_added && remaining > 0 => {
                let delay = (step.settings.initial_rebalance_delay_ms as i64).min(remaining);
                self.phase.new_member_added = false;
                self.phase.initial_remaining_ms = Some(remaining - delay);
                self.arm_join(delay, step);
            }
            _ => self.complete_join(step),
        }
    }

    /// Ends the phase if all are here; the first phase of a group runs its time out.
    pub(super) fn maybe_complete_join(&mut self, step: &mut Step<'_>) {
        let initial = self.previous_state == State::Empty;
        if self.state == State::PreparingRebalance && !initial && self.all_have_joined() {
            self.complete_join(step);
        }
    }

    fn all_have_joined(&self) -> bool {
        self.pending.is_empty() && self.members.values().all(|it| it.awaiting_join.is_some())
    }

    fn complete_join(&mut self, step: &mut Step<'_>) {
        self.remove_absent(step);
        if !self.members.is_empty() && !self.elect_joined_leader() {
            // Only static members, none of which has joined: they keep their place a while longer.
            self.arm_join(self.rebalance_timeout_ms(), step);
            return;
        }
        self.begin_generation(step);
    }

    /// Dynamic members that did not join in time are out; static ones stay until their session ends.
    fn remove_absent(&mut self, step: &mut Step<'_>) {
        let absent: Vec<MemberId> = self
            .members
            .values()
            .filter(|it| it.awaiting_join.is_none() && it.group_instance_id.is_none())
            .map(|it| it.id.clone())
            .collect();
        for id in absent {
            self.remove(&id, step);
        }
    }

    /// The leader stays if it has joined, else one that has takes over; false when nobody has.
    fn elect_joined_leader(&mut self) -> bool {
        let joined =
            |id: &MemberId| self.members.get(id).is_some_and(|it| it.awaiting_join.is_some());
        if !self.leader.as_ref().is_some_and(joined) {
            let next = self.members.values().find(|it| it.awaiting_join.is_some());
            let Some(next) = next.map(|it| it.id.clone()) else { return false };
            self.leader = Some(next);
        }
        true
    }

    fn begin_generation(&mut self, step: &mut Step<'_>) {
        // Generations are never negative: −1 means "no generation" in requests.
        self.generation_id = self.generation_id.wrapping_add(1) & i32::MAX;
        self.pending_sync.clear();
        self.assigning.new_generation();
        if self.members.is_empty() {
            self.protocol = None;
            self.leader = None;
            self.become_state(State::Empty, step.now);
            self.assigning.forget();
            let record = self.record();
            step.effects.records.push(record);
            return;
        }
        self.protocol = self.select_protocol();
        self.become_state(State::CompletingRebalance, step.now);
        for id in self.member_ids() {
            self.answer_join(&id, step);
        }
        let at = step.after(self.rebalance_timeout_ms());
        step.effects.timer(at, &self.id, TimerKind::Sync(self.generation_id));
    }

    fn answer_join(&mut self, member_id: &MemberId, step: &mut Step<'_>) {
        let joined = self.joined(member_id);
        let Some(member) = self.members.get_mut(member_id) else { return };
        member.is_new = false;
        if let Some(ticket) = member.awaiting_join.take() {
            step.effects.join(ticket, Ok(joined));
        }
        self.pending_sync.insert(member_id.clone());
        self.touch(member_id, step);
    }

    /// A rebalance begins while members wait for their assignment.
    fn abandon_sync(&mut self, step: &mut Step<'_>) {
        self.assigning.abandon();
        for member in self.members.values_mut() {
            if let Some(ticket) = member.awaiting_sync.take() {
                step.effects.sync(ticket, Err(GroupError::RebalanceInProgress));
            }
        }
        for id in self.member_ids() {
            self.touch(&id, step);
        }
    }
}
