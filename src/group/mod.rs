//! Consumer groups as state machines over the records of `__consumer_offsets`. Pure: time arrives as an argument.
//!
//! A [`Shard`] holds the groups of one partition of that topic. What it stores changes in
//! [`Shard::replay`] alone; the join phase of a classic group (`classic`) is soft: a restart may forget it.

pub mod classic;
mod commit;
pub mod consumer;
mod description;
mod effects;
mod error;
mod keep;
mod offsets;
mod placement;
mod record;
mod session;
mod shard;

pub use commit::Fetched;
pub use description::{DescribedGroup, DescribedMember, GroupState, ListedGroup};
pub use effects::{Answer, Ask, AskReason, Effects, Ticket, TimerKey, TimerKind};
pub use error::GroupError;
pub use offsets::{CommitOffsets, CommittedOffset, FetchOffsets, OffsetToCommit};
pub use placement::partition_for;
pub use record::{
    ClassicMemberMetadata, ConsumerGroupMetadata, ConsumerMemberMetadata, CurrentAssignment,
    GroupMetadata, GroupRecord, MemberMetadata, MemberState, OffsetCommit, RawRecord, RecordError,
    ResolvedRegex,
};
pub use shard::Shard;

#[cfg(test)]
mod harness;
#[cfg(test)]
mod tests;
