//! `LeaveGroup`: members go, or are removed by an operator.

use super::{ClassicGroup, LeavingMember, State, Step};
use crate::{base::MemberId, group::GroupError};

impl ClassicGroup {
    /// Removes those that are there and rebalances once for all of them; one result each, in order.
    pub fn leave(
        &mut self,
        leaving: &[LeavingMember],
        step: &mut Step<'_>,
    ) -> Vec<Result<(), GroupError>> {
        let results: Vec<_> = leaving.iter().map(|it| self.leave_one(it, step)).collect();
        if results.iter().any(Result::is_ok) {
            self.after_removal(step);
        }
        results
    }

    fn leave_one(
        &mut self,
        leaving: &LeavingMember,
        step: &mut Step<'_>,
    ) -> Result<(), GroupError> {
        let id = self.leaving_id(leaving)?;
        self.remove(&id, step);
        Ok(())
    }

    fn leaving_id(&self, leaving: &LeavingMember) -> Result<MemberId, GroupError> {
        let instance = leaving.group_instance_id.as_ref();
        if leaving.member_id.as_str().is_empty() {
            let id = instance.and_then(|it| self.static_members.get(it));
            return id.cloned().ok_or(GroupError::UnknownMemberId);
        }
        if !self.pending.contains(&leaving.member_id) {
            self.validate_member(&leaving.member_id, instance)?;
        }
        Ok(leaving.member_id.clone())
    }

    pub(super) fn after_removal(&mut self, step: &mut Step<'_>) {
        match self.state {
            State::Stable | State::CompletingRebalance | State::PreparingRebalance => {
                self.rebalance_or_complete(step);
            }
            State::Empty | State::Dead => {}
        }
    }
}
