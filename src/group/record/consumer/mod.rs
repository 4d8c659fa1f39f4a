//! The values of records of consumer groups (KIP-848), in the flexible encoding, each of version 0.
//!
//! Rule: what is written is what Kafka 4.1 writes; of what is read, tagged fields of later versions are passed over.

mod classic_member;
mod current_assignment;
mod group;
mod member;
mod partitions;
mod regex;
mod target;

pub use classic_member::ClassicMemberMetadata;
pub use current_assignment::{CurrentAssignment, MemberState};
pub use group::ConsumerGroupMetadata;
pub use member::ConsumerMemberMetadata;
pub use regex::ResolvedRegex;
pub(super) use target::{decode_epoch, decode_target, encode_epoch, encode_target};

use std::collections::BTreeSet;

use super::{Reader, RecordError, Writer};
use crate::base::TopicName;

const VERSION: i16 = 0;

/// A value's bytes, its version first.
fn writer() -> Writer {
    let mut out = Writer::default();
    out.i16(VERSION);
    out
}

/// Reads behind the version.
fn reader(value: &[u8]) -> Result<Reader<'_>, RecordError> {
    let mut read = Reader::new(value);
    let version = read.i16()?;
    read.set_flexible(true);
    if version == VERSION { Ok(read) } else { Err(RecordError::UnknownValueVersion(version)) }
}

fn write_topics(out: &mut Writer, topics: &BTreeSet<TopicName>) {
    out.compact_count(topics.len());
    for topic in topics {
        out.compact_string(topic.as_str());
    }
}

fn read_topics(read: &mut Reader<'_>) -> Result<BTreeSet<TopicName>, RecordError> {
    (0..read.count()?).map(|_| read.string().map(TopicName)).collect()
}

#[cfg(test)]
mod tests;
