//! What a timer does when it fires. Its cause may be gone by then: each checks again.

use std::collections::BTreeSet;

use super::{ClassicGroup, State, Step};
use crate::{
    base::MemberId,
    group::{TimerKind, session::Wake},
};

impl ClassicGroup {
    pub fn fire(&mut self, kind: &TimerKind, step: &mut Step<'_>) {
        match kind {
            TimerKind::Session(member_id) => self.session_timeout(member_id, step),
            TimerKind::Join(number) => self.join_timeout(*number, step),
            TimerKind::Sync(generation_id) => self.sync_timeout(*generation_id, step),
            TimerKind::FollowUp(generation_id) => self.follow_up(*generation_id, step),
            // The one needs the assignor's name, so that the runtime calls `assignor_changed` instead; the other is of the
            // protocol that the group spoke before.
            TimerKind::Probe | TimerKind::Revocation(..) => {}
        }
    }

    /// Whether a timer's cause is still there.
    pub fn awaits(&self, kind: &TimerKind) -> bool {
        match kind {
            TimerKind::Session(id) => self.members.contains_key(id) || self.pending.contains(id),
            TimerKind::Join(number) => {
                self.state == State::PreparingRebalance && self.phase.is(*number)
            }
            TimerKind::Sync(generation_id) => {
                *generation_id == self.generation_id && !self.pending_sync.is_empty()
            }
            TimerKind::FollowUp(generation_id) => *generation_id == self.generation_id,
            TimerKind::Probe => true,
            TimerKind::Revocation(..) => false,
        }
    }

    fn session_timeout(&mut self, member_id: &MemberId, step: &mut Step<'_>) {
        if self.pending.remove(member_id) {
            self.maybe_complete_join(step);
            return;
        }
        let Some(member) = self.members.get_mut(member_id) else { return };
        match member.session.fire(step.now) {
            Wake::Stale => {}
            Wake::Until(deadline) => self.keep_until(member_id, deadline, step),
            Wake::Expired if member.waits_for_us() => {}
            Wake::Expired => {
                self.remove(member_id, step);
                self.after_removal(step);
            }
        }
    }

    /// Members that joined and then never synced are out.
    fn sync_timeout(&mut self, generation_id: i32, step: &mut Step<'_>) {
        let waits = matches!(self.state, State::CompletingRebalance | State::Stable);
        if !waits || generation_id != self.generation_id || self.pending_sync.is_empty() {
            return;
        }
        let silent: BTreeSet<MemberId> = std::mem::take(&mut self.pending_sync);
        for id in &silent {
            self.remove(id, step);
        }
        self.prepare_rebalance(step);
    }

    fn follow_up(&mut self, generation_id: i32, step: &mut Step<'_>) {
        if self.state == State::Stable && generation_id == self.generation_id {
            self.prepare_rebalance(step);
        }
    }
}
