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

/// A batch by its last offset, and the position of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetPosition {
    pub(super) last_offset: Offset,
    pub(super) position: u64,
}

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

    /// The last batch that has an entry and ends at or before `target`. The batch itself tells whether that is true.
    pub(super) fn lookup(&self, target: Offset) -> io::Result<Option<OffsetPosition>> {
        let relative = target - self.base_offset;
        let found = self.entries.find_last(|it| i64::from(decode(*it).0) <= relative)?;
        Ok(found.map(|it| self.entry(it)))
    }

    /// The last batch that has an entry and begins at or before `position`. The batch itself tells whether that is true.
    pub(super) fn lookup_position(&self, position: u64) -> io::Result<Option<OffsetPosition>> {
        let begins_before =
            |it: &[u8; ENTRY_BYTES]| u64::try_from(decode(*it).1).is_ok_and(|it| it <= position);
        let found = self.entries.find_last(begins_before)?;
        Ok(found.map(|it| self.entry(it)))
    }

    /// The last batch that has an entry.
    pub(super) fn last(&self) -> io::Result<Option<OffsetPosition>> {
        Ok(self.entries.last()?.map(|it| self.entry(it)))
    }

    /// All entries.
    pub(super) fn all(&self) -> io::Result<Vec<OffsetPosition>> {
        Ok(self.entries.all()?.into_iter().map(|it| self.entry(it)).collect())
    }

    /// Whether its ends lie inside `size` bytes; what is between them is confirmed when it is used.
    pub(super) fn is_plausible(&self, size: u64) -> io::Result<bool> {
        let starts = self.entries.first()?.is_none_or(|it| {
            let (relative, position) = decode(it);
            relative >= 0 && position >= 0
        });
        Ok(starts && self.last()?.is_none_or(|it| it.position < size))
    }

    /// Whether one more entry would pass `segment.index.bytes`.
    pub(super) fn is_full(&self, bytes_max: u32) -> bool {
        (self.entries.entries() + 1) * ENTRY_BYTES as u64 > u64::from(bytes_max)
    }

    fn entry(&self, bytes: [u8; ENTRY_BYTES]) -> OffsetPosition {
        let (relative, position) = decode(bytes);
        OffsetPosition {
            last_offset: Offset(self.base_offset.0.saturating_add(i64::from(relative))),
            // A negative one is beyond any segment, and so believed by nobody.
            position: u64::try_from(position).unwrap_or(u64::MAX),
        }
    }
}

fn encode(relative: i32, position: i32) -> [u8; ENTRY_BYTES] {
    ((i64::from(relative) << 32) | i64::from(position)).to_be_bytes()
}

fn decode(entry: [u8; ENTRY_BYTES]) -> (i32, i32) {
    let both = i64::from_be_bytes(entry);
    ((both >> 32) as i32, both as i32)
}
