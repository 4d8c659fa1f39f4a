//! `.timeindex`: up to which offset a segment holds nothing younger than a timestamp (KIP-33).
//!
//! | field          | type | bytes | meaning                                                               |
//! |----------------|------|------:|-----------------------------------------------------------------------|
//! | timestamp      | i64  |     8 | the largest so far in the segment; rises from entry to entry          |
//! | relativeOffset | i32  |     4 | last offset of the batch that has it, less the segment's base offset  |

use std::io;

use bytes::Buf as _;

use super::{file::LazyFile, index_file::IndexFile};
use crate::base::{Offset, TimestampMs};

const ENTRY_BYTES: usize = 12;

/// A timestamp, and the last offset of the first batch that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimestampOffset {
    pub(super) timestamp: TimestampMs,
    pub(super) offset: Offset,
}

#[derive(Debug)]
pub(super) struct TimeIndex {
    base_offset: Offset,
    pub(super) entries: IndexFile<ENTRY_BYTES>,
}

impl TimeIndex {
    pub(super) fn new(base_offset: Offset, file: LazyFile) -> Self {
        Self { base_offset, entries: IndexFile::new(file) }
    }

    /// Notes the largest timestamp so far, if there is one and it has risen since the last entry: `kafka-dump-log` takes −1, no
    /// timestamp, for one that has not.
    pub(super) fn append_if_later(&self, entry: TimestampOffset) -> io::Result<()> {
        let is_later = self.last()?.is_none_or(|last| entry.timestamp > last.timestamp);
        if !is_later || entry.timestamp.0 < 0 {
            return Ok(());
        }
        let relative = i32::try_from(entry.offset - self.base_offset)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "outside the segment"))?;
        self.entries.append(encode(entry.timestamp.0, relative))
    }

    pub(super) fn last(&self) -> io::Result<Option<TimestampOffset>> {
        Ok(self.entries.last()?.map(|it| self.entry(it)))
    }

    /// The last entry older than `target`: if its batch confirms it, everything up to its offset is older too.
    pub(super) fn lookup(&self, target: TimestampMs) -> io::Result<Option<TimestampOffset>> {
        let found = self.entries.find_last(|it| decode(it).0 < target.0)?;
        Ok(found.map(|it| self.entry(it)))
    }

    /// Whether its first entry is of this segment; the others are confirmed when they are used.
    pub(super) fn is_plausible(&self) -> io::Result<bool> {
        Ok(self.entries.first()?.is_none_or(|it| decode(&it).1 >= 0))
    }

    pub(super) fn is_full(&self, bytes_max: u32) -> bool {
        // One entry is kept free for the last one, written when the segment is sealed.
        (self.entries.entries() + 2) * ENTRY_BYTES as u64 > u64::from(bytes_max)
    }

    fn entry(&self, bytes: [u8; ENTRY_BYTES]) -> TimestampOffset {
        let (timestamp, relative) = decode(&bytes);
        TimestampOffset {
            timestamp: TimestampMs(timestamp),
            offset: Offset(self.base_offset.0.saturating_add(i64::from(relative))),
        }
    }
}

fn encode(timestamp: i64, relative: i32) -> [u8; ENTRY_BYTES] {
    let mut entry = [0; ENTRY_BYTES];
    let (left, right) = entry.split_at_mut(8);
    left.copy_from_slice(&timestamp.to_be_bytes());
    right.copy_from_slice(&relative.to_be_bytes());
    entry
}

fn decode(entry: &[u8; ENTRY_BYTES]) -> (i64, i32) {
    let mut input = &entry[..];
    (input.get_i64(), input.get_i32())
}
