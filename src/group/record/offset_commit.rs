//! `OffsetCommitValue`: one committed offset.
//!
//! | field           | type                     | versions |
//! |-----------------|--------------------------|----------|
//! | offset          | i64                      | 0+       |
//! | leaderEpoch     | i32, −1 for none         | 3+       |
//! | metadata        | string                   | 0+       |
//! | commitTimestamp | i64                      | 0+       |
//! | expireTimestamp | i64, −1 for none         | 1        |
//! | topicId         | uuid, tagged 0           | 4        |

use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;

use super::{Reader, RecordError, Writer};
use crate::base::{LeaderEpoch, Offset, TimestampMs, TopicId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetCommit {
    pub offset: Offset,
    pub leader_epoch: Option<LeaderEpoch>,
    pub metadata: Arc<str>,
    pub commit_timestamp: TimestampMs,
    /// Set by clients of OffsetCommit 2 to 4 only; without it `offsets.retention.minutes` decides.
    pub expire_timestamp: Option<TimestampMs>,
    /// Which topic of that name was meant.
    pub topic_id: Option<TopicId>,
}

const NEWEST: i16 = 4;
const TOPIC_ID: u32 = 0;

impl OffsetCommit {
    /// Version 1 when it has an expiry of its own, as Kafka does, else the newest.
    pub(super) fn encode(&self) -> Bytes {
        let mut out = Writer::default();
        if let Some(expire) = self.expire_timestamp {
            out.i16(1);
            out.i64(self.offset.0);
            out.string(&self.metadata);
            out.i64(self.commit_timestamp.0);
            out.i64(expire.0);
            return out.finish();
        }
        out.i16(NEWEST);
        out.i64(self.offset.0);
        out.i32(self.leader_epoch.map_or(-1, |it| it.0));
        out.compact_string(&self.metadata);
        out.i64(self.commit_timestamp.0);
        match self.topic_id {
            Some(TopicId(id)) => out.tagged_field(TOPIC_ID, id.as_bytes()),
            None => out.no_tagged_fields(),
        }
        out.finish()
    }

    pub(super) fn decode(value: &[u8]) -> Result<Self, RecordError> {
        let mut read = Reader::new(value);
        let version = read.i16()?;
        if !(0..=NEWEST).contains(&version) {
            return Err(RecordError::UnknownValueVersion(version));
        }
        read.set_flexible(version >= 4);
        let offset = Offset(read.i64()?);
        let leader_epoch = if version >= 3 { read.i32()? } else { -1 };
        let metadata = read.string()?;
        let commit_timestamp = TimestampMs(read.i64()?);
        let expire = if version == 1 { read.i64()? } else { -1 };
        let topic_id = read.tagged_field(TOPIC_ID)?.and_then(|it| Uuid::from_slice(it).ok());
        Ok(Self {
            offset,
            leader_epoch: (leader_epoch >= 0).then_some(LeaderEpoch(leader_epoch)),
            metadata,
            commit_timestamp,
            expire_timestamp: (expire >= 0).then_some(TimestampMs(expire)),
            topic_id: topic_id.filter(|it| !it.is_nil()).map(TopicId),
        })
    }
}
