//! The records of `__consumer_offsets`, byte for byte as Kafka writes them, so that its tools read ours and
//! we read its. Hand-written: the wire crate has requests only.
//!
//! | key version | key                                  | value                              |
//! |------------:|--------------------------------------|------------------------------------|
//! |        0, 1 | group, topic: string, partition: i32 | [`OffsetCommit`], versions 0-4     |
//! |           2 | group: string                        | [`GroupMetadata`], versions 0-4    |
//! |           3 | group: string                        | [`ConsumerGroupMetadata`]          |
//! |           5 | group, member: string                | [`ConsumerMemberMetadata`]         |
//! |           6 | group: string                        | the target assignment's epoch: i32 |
//! |           7 | group, member: string                | a member's target: partitions      |
//! |           8 | group, member: string                | [`CurrentAssignment`]              |
//! |          16 | group, regular expression: string    | [`ResolvedRegex`]                  |
//!
//! A null value is a tombstone. Keys of other versions belong to groups of other kinds and are skipped; so is 4, the
//! partitions of a consumer group's topics, which Kafka wrote before 4.1.

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
use consumer::{decode_epoch, decode_target, encode_epoch, encode_target};
pub use group_metadata::{GroupMetadata, MemberMetadata};
pub use offset_commit::OffsetCommit;

use crate::{
    base::{GroupId, MemberId, TopicName, TopicPartition},
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

const OLD_OFFSET_COMMIT_KEY: i16 = 0;
const OFFSET_COMMIT_KEY: i16 = 1;
const GROUP_METADATA_KEY: i16 = 2;
const CONSUMER_GROUP_KEY: i16 = 3;
const CONSUMER_MEMBER_KEY: i16 = 5;
const CONSUMER_TARGET_KEY: i16 = 6;
const CONSUMER_TARGET_MEMBER_KEY: i16 = 7;
const CONSUMER_CURRENT_KEY: i16 = 8;
const CONSUMER_REGEX_KEY: i16 = 16;

impl GroupRecord {
    pub fn encode(&self) -> RawRecord {
        RawRecord { key: self.encode_key(), value: self.encode_value() }
    }

    fn encode_key(&self) -> Bytes {
        let mut key = Writer::default();
        match self {
            Self::OffsetCommit { group_id, topic_partition, .. } => {
                key.i16(OFFSET_COMMIT_KEY);
                key.string(group_id.as_str());
                key.string(topic_partition.topic.as_str());
                key.i32(topic_partition.partition);
            }
            Self::GroupMetadata { group_id, .. } => {
                group_key(&mut key, GROUP_METADATA_KEY, group_id);
            }
            Self::ConsumerGroup { group_id, .. } => {
                group_key(&mut key, CONSUMER_GROUP_KEY, group_id);
            }
            Self::ConsumerTarget { group_id, .. } => {
                group_key(&mut key, CONSUMER_TARGET_KEY, group_id);
            }
            Self::ConsumerMember { group_id, member_id, .. } => {
                group_key(&mut key, CONSUMER_MEMBER_KEY, group_id);
                key.string(member_id.as_str());
            }
            Self::ConsumerTargetMember { group_id, member_id, .. } => {
                group_key(&mut key, CONSUMER_TARGET_MEMBER_KEY, group_id);
                key.string(member_id.as_str());
            }
            Self::ConsumerCurrent { group_id, member_id, .. } => {
                group_key(&mut key, CONSUMER_CURRENT_KEY, group_id);
                key.string(member_id.as_str());
            }
            Self::ConsumerRegex { group_id, regex, .. } => {
                group_key(&mut key, CONSUMER_REGEX_KEY, group_id);
                key.string(regex);
            }
        }
        key.finish()
    }

    fn encode_value(&self) -> Option<Bytes> {
        match self {
            Self::OffsetCommit { value, .. } => value.as_ref().map(OffsetCommit::encode),
            Self::GroupMetadata { value, .. } => value.as_ref().map(GroupMetadata::encode),
            Self::ConsumerGroup { value, .. } => value.as_ref().map(ConsumerGroupMetadata::encode),
            Self::ConsumerMember { value, .. } => {
                value.as_ref().map(ConsumerMemberMetadata::encode)
            }
            Self::ConsumerTarget { assignment_epoch, .. } => assignment_epoch.map(encode_epoch),
            Self::ConsumerTargetMember { value, .. } => value.as_ref().map(encode_target),
            Self::ConsumerCurrent { value, .. } => value.as_ref().map(CurrentAssignment::encode),
            Self::ConsumerRegex { value, .. } => value.as_ref().map(ResolvedRegex::encode),
        }
    }

    /// Reads a stored record; `Ok(None)` for a kind that this version does not know.
    pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<Option<Self>, RecordError> {
        let mut key = Reader::new(key);
        let version = key.i16()?;
        // All keys that are known begin with it.
        let group_id = key.string().map(GroupId);
        Ok(Some(match version {
            OLD_OFFSET_COMMIT_KEY | OFFSET_COMMIT_KEY => Self::OffsetCommit {
                group_id: group_id?,
                topic_partition: {
                    let topic = TopicName(key.string()?);
                    TopicPartition { topic, partition: key.i32()? }
                },
                value: value.map(OffsetCommit::decode).transpose()?,
            },
            GROUP_METADATA_KEY => Self::GroupMetadata {
                group_id: group_id?,
                value: value.map(GroupMetadata::decode).transpose()?,
            },
            CONSUMER_GROUP_KEY => Self::ConsumerGroup {
                group_id: group_id?,
                value: value.map(ConsumerGroupMetadata::decode).transpose()?,
            },
            CONSUMER_MEMBER_KEY => Self::ConsumerMember {
                group_id: group_id?,
                member_id: MemberId(key.string()?),
                value: value.map(ConsumerMemberMetadata::decode).transpose()?,
            },
            CONSUMER_TARGET_KEY => Self::ConsumerTarget {
                group_id: group_id?,
                assignment_epoch: value.map(decode_epoch).transpose()?,
            },
            CONSUMER_TARGET_MEMBER_KEY => Self::ConsumerTargetMember {
                group_id: group_id?,
                member_id: MemberId(key.string()?),
                value: value.map(decode_target).transpose()?,
            },
            CONSUMER_CURRENT_KEY => Self::ConsumerCurrent {
                group_id: group_id?,
                member_id: MemberId(key.string()?),
                value: value.map(CurrentAssignment::decode).transpose()?,
            },
            CONSUMER_REGEX_KEY => Self::ConsumerRegex {
                group_id: group_id?,
                regex: key.string()?,
                value: value.map(ResolvedRegex::decode).transpose()?,
            },
            _ => return Ok(None),
        }))
    }
}

fn group_key(key: &mut Writer, version: i16, group_id: &GroupId) {
    key.i16(version);
    key.string(group_id.as_str());
}

#[cfg(test)]
mod tests;
