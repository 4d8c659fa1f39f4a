//! `ConsumerGroupCurrentMemberAssignmentValue` (key version 8): what a member has, and is about to give up.
//!
//! | field                       | type                    |
//! |-----------------------------|-------------------------|
//! | memberEpoch                 | i32                     |
//! | previousMemberEpoch         | i32                     |
//! | state                       | i8, a [`MemberState`]   |
//! | assignedPartitions          | array, see `partitions` |
//! | partitionsPendingRevocation | array, see `partitions` |

use bytes::Bytes;

use super::{RecordError, partitions, reader, writer};
use crate::group::consumer::TopicPartitions;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentAssignment {
    pub member_epoch: i32,
    /// What a member goes by whose last answer was lost.
    pub previous_member_epoch: i32,
    pub state: MemberState,
    pub assigned: TopicPartitions,
    pub pending_revocation: TopicPartitions,
}

/// Where a member stands on its way to its target. Persisted by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// It has all of its target.
    Stable,
    /// It must give partitions up before it gets to the next epoch.
    UnrevokedPartitions,
    /// It waits for partitions that others have not given up yet.
    UnreleasedPartitions,
    /// Written by a newer version.
    Unknown,
}

impl MemberState {
    fn number(self) -> i8 {
        match self {
            Self::Stable => 0,
            Self::UnrevokedPartitions => 1,
            Self::UnreleasedPartitions => 2,
            Self::Unknown => 127,
        }
    }

    fn of_number(number: i8) -> Self {
        let known = [Self::Stable, Self::UnrevokedPartitions, Self::UnreleasedPartitions];
        known.into_iter().find(|it| it.number() == number).unwrap_or(Self::Unknown)
    }
}

impl CurrentAssignment {
    pub(in crate::group::record) fn encode(&self) -> Bytes {
        let mut out = writer();
        out.i32(self.member_epoch);
        out.i32(self.previous_member_epoch);
        out.i8(self.state.number());
        partitions::write(&mut out, &self.assigned);
        partitions::write(&mut out, &self.pending_revocation);
        out.no_tagged_fields();
        out.finish()
    }

    pub(in crate::group::record) fn decode(value: &[u8]) -> Result<Self, RecordError> {
        let mut read = reader(value)?;
        let current = Self {
            member_epoch: read.i32()?,
            previous_member_epoch: read.i32()?,
            state: MemberState::of_number(read.i8()?),
            assigned: partitions::read(&mut read)?,
            pending_revocation: partitions::read(&mut read)?,
        };
        read.tagged_fields(|_, _| ())?;
        Ok(current)
    }
}
