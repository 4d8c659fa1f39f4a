//! `Heartbeat`, and offset commits, which keep a session alive as well.

use std::sync::Arc;

use super::{ClassicGroup, HeartbeatRequest, State, Step};
use crate::{base::MemberId, group::GroupError};

impl ClassicGroup {
    pub fn heartbeat(
        &mut self,
        request: &HeartbeatRequest,
        step: &mut Step<'_>,
    ) -> Result<(), GroupError> {
        self.validate_member(&request.member_id, request.group_instance_id.as_ref())?;
        if request.generation_id != self.generation_id {
            return Err(GroupError::IllegalGeneration);
        }
        match self.state {
            State::Empty | State::Dead => Err(GroupError::UnknownMemberId),
            State::PreparingRebalance => {
                self.touch(&request.member_id, step);
                Err(GroupError::RebalanceInProgress)
            }
            // A consumer may send heartbeats between its join and its sync.
            State::CompletingRebalance | State::Stable => {
                self.touch(&request.member_id, step);
                Ok(())
            }
        }
    }

    /// Whether an offset commit may be stored.
    ///
    /// Without a member and generation it comes from an operator or a consumer without group management:
    /// good only while the group has no members.
    pub fn validate_commit(
        &self,
        member_id: &MemberId,
        group_instance_id: Option<&Arc<str>>,
        generation_id: i32,
    ) -> Result<(), GroupError> {
        if self.state == State::Empty && generation_id < 0 {
            return Ok(());
        }
        let by_member =
            generation_id >= 0 || !member_id.as_str().is_empty() || group_instance_id.is_some();
        if by_member {
            self.validate_member(member_id, group_instance_id)?;
            if generation_id != self.generation_id {
                return Err(GroupError::IllegalGeneration);
            }
        } else if self.state != State::Empty {
            return Err(GroupError::UnknownMemberId);
        }
        match self.state {
            // The partitions may go to someone else: a commit now could overtake the new owner's.
            State::CompletingRebalance => Err(GroupError::RebalanceInProgress),
            _ => Ok(()),
        }
    }

    /// A commit was accepted: its member lives.
    pub fn committed(&mut self, member_id: &MemberId, step: &mut Step<'_>) {
        if matches!(self.state, State::Stable | State::PreparingRebalance) {
            self.touch(member_id, step);
        }
    }
}
