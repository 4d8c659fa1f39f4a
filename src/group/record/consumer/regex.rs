//! `ConsumerGroupRegularExpressionValue` (key version 16): what a regular expression matched.
//!
//! | field     | type            |
//! |-----------|-----------------|
//! | topics    | array of string |
//! | version   | i64             |
//! | timestamp | i64             |

use std::collections::BTreeSet;

use bytes::Bytes;

use super::{RecordError, read_topics, reader, write_topics, writer};
use crate::base::{TimestampMs, TopicName};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRegex {
    pub topics: BTreeSet<TopicName>,
    /// Of the metadata image that it was matched against.
    pub version: i64,
    pub timestamp: TimestampMs,
}

impl ResolvedRegex {
    pub(in crate::group::record) fn encode(&self) -> Bytes {
        let mut out = writer();
        write_topics(&mut out, &self.topics);
        out.i64(self.version);
        out.i64(self.timestamp.0);
        out.no_tagged_fields();
        out.finish()
    }

    pub(in crate::group::record) fn decode(value: &[u8]) -> Result<Self, RecordError> {
        let mut read = reader(value)?;
        let topics = read_topics(&mut read)?;
        let version = read.i64()?;
        let timestamp = TimestampMs(read.i64()?);
        read.tagged_fields(|_, _| ())?;
        Ok(Self { topics, version, timestamp })
    }
}
