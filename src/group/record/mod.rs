//! The records of `__consumer_offsets`, byte for byte as Kafka writes them, so that its tools read ours and
//! we read its. Hand-written: the wire crate has requests only.
//!
//! | key version | key                                  | value                          |
//! |------------:|--------------------------------------|--------------------------------|
//! |        0, 1 | group, topic: string, partition: i32 | [`OffsetCommit`], versions 0-4 |
//! |           2 | group: string                        | [`GroupMetadata`], versions 0-4 |
//!
//! A null value is a tombstone. Keys of other versions belong to groups of other kinds and are skipped.

mod consumer;
mod fields;
mod group_metadata;
mod offset_commit;

use std::sync::Arc;

use bytes::Bytes;

use self::fields::{Reader, Writer};
pub use consumer::{
    ClassicMemberMetadata, ConsumerGroupMetadata, ConsumerMemberMetadata, CurrentAssignment,
    MemberState, ResolvedRegex,
};
pub use group_metadata::{GroupMetadata, MemberMetadata};
pub use offset_commit::OffsetCommit;

use crate::{
    base::{GroupId, MemberId, TopicPartition},
    group::consumer::TopicPartitions,
};

/// Why stored bytes are no record of ours. Loading skips them with a warning, as Kafka does.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    #[error("the record ends early")]
    Truncated,
    #[error("a length or text of the record is malformed")]
    Malformed,
    #[error("version {0} of the value is not known")]
    UnknownValueVersion(i16),
}

/// Key and value as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecord {
    pub key: Bytes,
    pub value: Option<Bytes>,
}

/// One change of a shard's state; `None` is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupRecord {
    OffsetCommit {
        group_id: GroupId,
        topic_partition: TopicPartition,
        value: Option<OffsetCommit>,
    },
    GroupMetadata {
        group_id: GroupId,
        value: Option<GroupMetadata>,
    },
    ConsumerGroup {
        group_id: GroupId,
        value: Option<ConsumerGroupMetadata>,
    },
    ConsumerMember {
        group_id: GroupId,
        member_id: MemberId,
        value: Option<ConsumerMemberMetadata>,
    },
    /// The epoch of the target assignment: key version 6.
    ConsumerTarget {
        group_id: GroupId,
        assignment_epoch: Option<i32>,
    },
    /// What a member is to have in the end: key version 7.
    ConsumerTargetMember {
        group_id: GroupId,
        member_id: MemberId,
        value: Option<TopicPartitions>,
    },
    ConsumerCurrent {
        group_id: GroupId,
        member_id: MemberId,
        value: Option<CurrentAssignment>,
    },
    ConsumerRegex {
        group_id: GroupId,
        regex: Arc<str>,
        value: Option<ResolvedRegex>,
    },
}

const OFFSET_COMMIT_KEY: i16 = 1;
const GROUP_METADATA_KEY: i16 = 2;

impl GroupRecord {
    pub fn encode(&self) -> RawRecord {
        let mut key = Writer::default();
        match self {
            Self::OffsetCommit { group_id, topic_partition, value } => {
                key.i16(OFFSET_COMMIT_KEY);
                key.string(group_id.as_str());
                key.string(topic_partition.topic.as_str());
                key.i32(topic_partition.partition);
                RawRecord { key: key.finish(), value: value.as_ref().map(OffsetCommit::encode) }
            }
            Self::GroupMetadata { group_id, value } => {
                key.i16(GROUP_METADATA_KEY);
                key.string(group_id.as_str());
                RawRecord { key: key.finish(), value: value.as_ref().map(GroupMetadata::encode) }
            }
            Self::ConsumerGroup { .. }
            | Self::ConsumerMember { .. }
            | Self::ConsumerTarget { .. }
            | Self::ConsumerTargetMember { .. }
            | Self::ConsumerCurrent { .. }
            | Self::ConsumerRegex { .. } => RawRecord { key: Bytes::new(), value: None }, // k2
        }
    }

    /// Reads a stored record; `Ok(None)` for a kind that this version does not know.
    pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<Option<Self>, RecordError> {
        let mut key = Reader::new(key);
        match key.i16()? {
            0 | OFFSET_COMMIT_KEY => Ok(Some(Self::OffsetCommit {
                group_id: GroupId(key.string()?),
                topic_partition: {
                    let topic = key.string()?;
                    TopicPartition { topic: crate::base::TopicName(topic), partition: key.i32()? }
                },
                value: value.map(OffsetCommit::decode).transpose()?,
            })),
            GROUP_METADATA_KEY => Ok(Some(Self::GroupMetadata {
                group_id: GroupId(key.string()?),
                value: value.map(GroupMetadata::decode).transpose()?,
            })),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;
