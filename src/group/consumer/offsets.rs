//! Whose offsets a consumer group takes, and to whom it tells them.

use super::{ConsumerGroup, member::Member};
use crate::{
    base::MemberId,
    group::{CommitOffsets, FetchOffsets, GroupError},
};

impl ConsumerGroup {
    /// Only an empty group takes offsets of those who are no members of it: an operator, or a consumer that assigns itself.
    ///
    /// # Errors
    ///
    /// [`GroupError::UnknownMemberId`], [`GroupError::StaleMemberEpoch`], [`GroupError::UnsupportedVersion`]; for a member
    /// of the classic protocol [`GroupError::IllegalGeneration`].
    pub(in crate::group) fn validate_commit(
        &self,
        request: &CommitOffsets,
    ) -> Result<(), GroupError> {
        if request.generation_id < 0 && self.is_empty() {
            return Ok(());
        }
        let member = self.known(&request.member_id)?;
        if member.metadata.classic.is_none() && !request.tells_missing_group {
            return Err(GroupError::UnsupportedVersion(
                "OffsetCommit version 9 or above must be used by members using the modern group protocol",
            ));
        }
        member.validate_epoch(request.generation_id)
    }

    /// # Errors
    ///
    /// As [`Self::validate_commit`]; who names neither a member nor an epoch may read.
    pub(in crate::group) fn validate_fetch(
        &self,
        request: &FetchOffsets,
    ) -> Result<(), GroupError> {
        match &request.member_id {
            None if request.member_epoch < 0 => Ok(()),
            None => Err(GroupError::UnknownMemberId),
            Some(id) => self.known(id)?.validate_epoch(request.member_epoch),
        }
    }

    fn known(&self, id: &MemberId) -> Result<&Member, GroupError> {
        self.members.get(id).ok_or(GroupError::UnknownMemberId)
    }
}

impl Member {
    fn validate_epoch(&self, told: i32) -> Result<(), GroupError> {
        if told == self.current.member_epoch {
            Ok(())
        } else if self.metadata.classic.is_some() {
            Err(GroupError::IllegalGeneration)
        } else {
            Err(GroupError::StaleMemberEpoch)
        }
    }
}
