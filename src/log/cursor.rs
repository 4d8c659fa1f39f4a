//! A walk over the batches of one segment file. Nothing that the file says is believed before it is checked: a batch
//! lies inside the file, and its offsets are possible ones.

use std::{path::PathBuf, sync::Arc};

use bytes::Bytes;

use super::{LogError, file::File, time_index::TimestampOffset};
use crate::{
    base::Offset,
    wire::record_batch::{Batch, BatchHeader, HEADER_BYTES},
};

/// How much is read at once by a walk that looks at headers.
pub(super) const LOOKUP_WINDOW_BYTES: usize = 16 * 1024;

/// How much is read at once by a walk that reads everything.
pub(super) const SCAN_WINDOW_BYTES: usize = 1024 * 1024;

/// The CRC of a batch covers everything from its attributes on.
pub(super) const CRC_START: usize = 21;

/// A batch and where it begins.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) position: u64,
    pub(super) header: BatchHeader,
}

impl Located {
    /// The position of the byte after it.
    pub(super) fn end(&self) -> u64 {
        self.position + self.header.size_bytes() as u64
    }

    /// Whether this is the batch that an entry of the time index speaks of.
    pub(super) fn holds(&self, entry: TimestampOffset) -> bool {
        let offsets = self.header.base_offset..=self.header.last_offset();
        offsets.contains(&entry.offset) && self.header.max_timestamp == entry.timestamp
    }
}

/// Yields batches from a position up to an end, both at batch boundaries.
pub(super) struct BatchCursor {
    file: Arc<dyn File>,
    path: PathBuf,
    position: u64,
    end: u64,
    window_bytes: usize,
    /// What was read last, and the position of its first byte.
    window: Vec<u8>,
    window_position: u64,
    /// Offset expected next, for messages; batches never go back behind it.
    next_offset: Offset,
}

impl BatchCursor {
    pub(super) fn new(
        file: Arc<dyn File>,
        path: PathBuf,
        range: std::ops::Range<u64>,
        base_offset: Offset,
        window_bytes: usize,
    ) -> Self {
        Self {
            file,
            path,
            position: range.start,
            end: range.end,
            window_bytes,
            window: Vec::new(),
            window_position: 0,
            next_offset: base_offset,
        }
    }

    /// The next batch; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`LogError::CorruptBatch`] where no whole, possible batch begins.
    pub(super) fn next(&mut self) -> Result<Option<Located>, LogError> {
        if self.position >= self.end {
            return Ok(None);
        }
        let position = self.position;
        let header = BatchHeader::parse(self.bytes(position, HEADER_BYTES)?)
            .ok()
            .filter(|header| is_possible(header, self.next_offset))
            .ok_or_else(|| self.corrupt())?;
        let located = Located { position, header };
        if located.end() > self.end {
            return Err(self.corrupt());
        }
        self.position = located.end();
        self.next_offset = located.header.last_offset() + 1;
        Ok(Some(located))
    }

    /// The next batch if it is possible and its CRC holds; `None` at the end and where that is not so.
    pub(super) fn next_whole(&mut self) -> Result<Option<Located>, LogError> {
        let found = match self.next() {
            Ok(Some(located)) => self.verify(&located).map(|()| Some(located)),
            other => other,
        };
        match found {
            Err(LogError::CorruptBatch { .. }) => Ok(None),
            other => other,
        }
    }

    /// Checks the CRC-32C of a batch.
    pub(super) fn verify(&mut self, located: &Located) -> Result<(), LogError> {
        let bytes = self.bytes(located.position, located.header.size_bytes())?;
        let matches = bytes.get(CRC_START..).map(crc32c::crc32c) == Some(located.header.crc);
        matches.then_some(()).ok_or_else(|| LogError::CorruptBatch {
            offset: located.header.base_offset,
            segment: self.path.clone(),
        })
    }

    /// The whole batch, in a copy of its own.
    pub(super) fn read(&mut self, located: &Located) -> Result<Batch, LogError> {
        let bytes = self.bytes(located.position, located.header.size_bytes())?;
        let bytes = Bytes::copy_from_slice(bytes);
        Ok(Batch { header: located.header.clone(), bytes })
    }

    fn bytes(&mut self, position: u64, count: usize) -> Result<&[u8], LogError> {
        if position + count as u64 > self.end {
            return Err(self.corrupt());
        }
        let window_end = self.window_position + self.window.len() as u64;
        if position < self.window_position || position + count as u64 > window_end {
            self.fill(position, count)?;
        }
        let start = (position - self.window_position) as usize;
        self.window.get(start..start + count).ok_or_else(|| self.corrupt())
    }

    fn fill(&mut self, position: u64, count: usize) -> Result<(), LogError> {
        let left = usize::try_from(self.end - position).unwrap_or(usize::MAX);
        self.window.resize(count.max(self.window_bytes).min(left), 0);
        self.window_position = position;
        self.file
            .read_exact_at(&mut self.window, position)
            .map_err(LogError::storage("read", &self.path))
    }

    fn corrupt(&self) -> LogError {
        LogError::CorruptBatch { offset: self.next_offset, segment: self.path.clone() }
    }
}

/// Whether a header can follow what ends before `expected`. Offsets this large never occur; computing with them
/// would overflow.
pub(super) fn is_possible(header: &BatchHeader, expected: Offset) -> bool {
    let base = header.base_offset.0;
    base >= expected.0 && base <= i64::MAX >> 1 && header.last_offset_delta >= 0
}
