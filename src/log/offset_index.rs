//! `.index`: where in its segment a batch lies.
//!
//! | field          | type | bytes | meaning                                                  |
//! |----------------|------|------:|----------------------------------------------------------|
//! | relativeOffset | i32  |     4 | last offset of the batch, less the segment's base offset |
//! | position       | i32  |     4 | of the batch's first byte in the `.log`                  |

use std::io;

use super::{file::LazyFile, index_file::IndexFile};
use crate::base::Offset;

const ENTRY_BYTES: usize = 8;

#[derive(Debug)]
pub(super) struct OffsetIndex {
    base_offset: Offset,
    pub(super) entries: IndexFile<ENTRY_BYTES>,
}

impl OffsetIndex {
    pub(super) fn new(base_offset: Offset, file: LazyFile) -> Self {
        Self { base_offset, entries: IndexFile::new(file) }
    }

    /// Notes the batch that begins at `position` and ends with `last_offset`.
    pub(super) fn append(&self, last_offset: Offset, position: u64) -> io::Result<()> {
        let relative = i32::try_from(last_offset - self.base_offset);
        let (Ok(relative), Ok(position)) = (relative, i32::try_from(position)) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "outside the segment"));
        };
        self.entries.append(encode(relative, position))
    }

    /// A position at or before that of the batch which holds `target`.
    pub(super) fn lookup(&self, target: Offset) -> io::Result<u64> {
        let relative = target - self.base_offset;
        let found = self.entries.find_last(|it| i64::from(decode(*it).0) <= relative)?;
        Ok(found.map_or(0, |it| u64::try_from(decode(it).1).unwrap_or(0)))
    }

    /// The position of the last batch that has an entry.
    pub(super) fn last_position(&self) -> io::Result<u64> {
        Ok(self.entries.last()?.map_or(0, |it| u64::try_from(decode(it).1).unwrap_or(0)))
    }

    /// Whether one more entry would pass `segment.index.bytes`.
    pub(super) fn is_full(&self, bytes_max: u32) -> bool {
        (self.entries.entries() + 1) * ENTRY_BYTES as u64 > u64::from(bytes_max)
    }
}

fn encode(relative: i32, position: i32) -> [u8; ENTRY_BYTES] {
    ((i64::from(relative) << 32) | i64::from(position)).to_be_bytes()
}

fn decode(entry: [u8; ENTRY_BYTES]) -> (i32, i32) {
    let both = i64::from_be_bytes(entry);
    ((both >> 32) as i32, both as i32)
}
