//! A segment: a part of the log, from its base offset on, in a `.log` with its `.index` and `.timeindex`.
//!
//! One writer appends, under the log's lock; readers see what `size` covers, which grows only after a write is whole.

use std::{
    io::IoSlice,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use super::{
    LogError,
    cursor::{BatchCursor, LOOKUP_WINDOW_BYTES, Located},
    file::{Disk, LazyFile},
    file_name,
    offset_index::{OffsetIndex, OffsetPosition},
    time_index::{TimeIndex, TimestampOffset},
};
use crate::{
    base::{Offset, TimestampMs},
    wire::record_batch::{BatchHeader, HEADER_BYTES},
};

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) base_offset: Offset,
    pub(super) log: LazyFile,
    pub(super) offset_index: OffsetIndex,
    pub(super) time_index: TimeIndex,
    /// Bytes that readers may see.
    size: AtomicU64,
    times: Mutex<Times>,
    /// An index was told to lead astray.
    doubted: AtomicBool,
    /// The file is longer than what was written.
    is_preallocated: AtomicBool,
    /// By chance: its part of `segment.jitter.ms`.
    pub(super) drawn: u32,
}

/// Entries of the offset index that a search tries, backwards, before it begins at the segment's start.
const ENTRIES_TRIED: usize = 3;

/// What rolling, retention and time lookups go by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// When this segment was made, or opened after a start.
    pub(super) created: TimestampMs,
    /// When it was last appended to.
    pub(super) modified: TimestampMs,
    /// Of its first batch with one, as the producer stamped it.
    pub(super) first: Option<TimestampMs>,
    /// The largest so far.
    pub(super) largest: Option<TimestampOffset>,
    bytes_since_index_entry: u64,
}

impl Segment {
    pub(super) fn new(
        disk: &Arc<dyn Disk>,
        dir: &Path,
        base_offset: Offset,
        now: TimestampMs,
    ) -> Self {
        Self::named(disk, dir, base_offset, now, "")
    }

    /// A segment whose files' names go on behind what they are.
    pub(super) fn named(
        disk: &Arc<dyn Disk>,
        dir: &Path,
        base_offset: Offset,
        now: TimestampMs,
        rest_of_name: &str,
    ) -> Self {
        let file = |suffix| {
            let name = file_name::of(base_offset, suffix);
            LazyFile::new(disk, dir.join(format!("{name}{rest_of_name}")))
        };
        Self {
            base_offset,
            log: file(file_name::LOG),
            offset_index: OffsetIndex::new(base_offset, file(file_name::INDEX)),
            time_index: TimeIndex::new(base_offset, file(file_name::TIME_INDEX)),
            size: AtomicU64::new(0),
            times: Mutex::new(Times {
                created: now,
                modified: now,
                first: None,
                largest: None,
                bytes_since_index_entry: 0,
            }),
            doubted: AtomicBool::new(false),
            is_preallocated: AtomicBool::new(false),
            drawn: rand::random(),
        }
    }

    pub(super) fn size(&self) -> u64 {
        self.size.load(Ordering::Acquire)
    }

    pub(super) fn set_size(&self, size: u64) {
        self.size.store(size, Ordering::Release);
    }

    pub(super) fn times(&self) -> Times {
        *self.times.lock()
    }

    pub(super) fn set_largest(&self, largest: Option<TimestampOffset>) {
        self.times.lock().largest = largest;
    }

    /// As old as what it is a copy of.
    pub(super) fn take_age_of(&self, other: &Self) {
        let Times { created, modified, .. } = other.times();
        let mut times = self.times.lock();
        (times.created, times.modified) = (created, modified);
    }

    pub(super) fn set_first(&self, first: TimestampMs) {
        self.times.lock().first = Some(first).filter(|it| it.0 >= 0);
    }

    /// Makes the `.log`, so that an empty active segment keeps the log's end over a restart; with room for so many bytes, if any.
    pub(super) fn create(&self, preallocated: Option<u64>) -> Result<(), LogError> {
        let make = || match (self.log.get()?, preallocated) {
            (_, None) => Ok(()),
            (file, Some(bytes)) => {
                self.is_preallocated.store(true, Ordering::Relaxed);
                file.allocate(bytes)
            }
        };
        make().map_err(LogError::storage("create", &self.log.path()))
    }

    /// The time of its first batch, if it has one; read where it is not known yet.
    pub(super) fn first_timestamp(&self) -> Result<Option<TimestampMs>, LogError> {
        if let Some(first) = self.times().first {
            return Ok(Some(first));
        }
        match self.locate(self.base_offset) {
            Ok(Some(first)) => self.set_first(first.header.max_timestamp),
            // Whoever reads a damaged one is told.
            Ok(None) | Err(LogError::CorruptBatch { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(self.times().first)
    }

    /// Whether an offset can be told from the base offset by 31 bits.
    pub(super) fn reaches(&self, last_offset: Offset) -> bool {
        i32::try_from(last_offset - self.base_offset).is_ok()
    }

    /// Writes at the end, without showing it to readers yet. What a failure left is cut off again.
    ///
    /// # Errors
    ///
    /// The failure of the write, and the failure of the cut if that failed too: the segment then holds what nobody
    /// may build upon.
    pub(super) fn write(
        &self,
        slices: &mut [IoSlice<'_>],
    ) -> Result<(), (LogError, Option<LogError>)> {
        let path = self.log.path();
        let size = self.size();
        let file = self.log.get().map_err(|it| (LogError::storage("open", &path)(it), None))?;
        file.write_all_at(slices, size).map_err(|failed| {
            let cut = file.truncate(size).err().map(LogError::storage("truncate", &path));
            (LogError::storage("append to", &path)(failed), cut)
        })
    }

    /// Notes a written batch in the indexes and the times. A failed index write is no failure: see `index_file`.
    pub(super) fn note(
        &self,
        header: &BatchHeader,
        position: u64,
        index_interval_bytes: u32,
        now: TimestampMs,
    ) {
        let mut times = self.times.lock();
        let latest =
            TimestampOffset { timestamp: header.max_timestamp, offset: header.last_offset() };
        if times.bytes_since_index_entry > u64::from(index_interval_bytes) {
            // Ignored on purpose: without the entry a lookup scans further, and nothing else.
            let _ = self.offset_index.append(header.last_offset(), position);
            if let Some(largest) = times.largest {
                let _ = self.time_index.append_if_later(largest);
            }
            times.bytes_since_index_entry = 0;
        }
        times.bytes_since_index_entry += header.size_bytes() as u64;
        times.modified = now;
        if header.max_timestamp.0 >= 0 {
            times.first.get_or_insert(header.max_timestamp);
        }
        if times.largest.is_none_or(|it| it.timestamp < latest.timestamp) {
            times.largest = Some(latest);
        }
    }

    /// Lets the files end where what was written to them ends, and writes the time index's last entry: after a clean stop it alone
    /// tells the largest timestamp. The offset index is there too then, if only empty: `kafka-dump-log` opens it to verify the other.
    pub(super) fn seal(&self) -> Result<(), LogError> {
        self.give_back_room()?;
        let Some(largest) = self.times().largest else { return Ok(()) };
        let offset_index = self.offset_index.entries.file();
        offset_index.get().map_err(LogError::storage("create", &offset_index.path()))?;
        let noted = self.time_index.append_if_later(largest);
        noted.map_err(LogError::storage("seal", &self.log.path()))?;
        self.cut_indexes()
    }

    /// Lets the indexes end with their last entries.
    pub(super) fn cut_indexes(&self) -> Result<(), LogError> {
        let cut = || {
            self.offset_index.entries.cut()?;
            self.time_index.entries.cut()
        };
        cut().map_err(LogError::storage("cut the indexes of", &self.log.path()))
    }

    fn give_back_room(&self) -> Result<(), LogError> {
        if !self.is_preallocated.load(Ordering::Relaxed) {
            return Ok(());
        }
        let cut = self.log.get().and_then(|it| it.truncate(self.size()));
        cut.map_err(LogError::storage("truncate", &self.log.path()))?;
        self.is_preallocated.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// fsyncs the records, which alone recovery needs.
    pub(super) fn sync_records(&self) -> Result<(), LogError> {
        if self.size() == 0 && !self.log.path().exists() {
            return Ok(());
        }
        let synced = self.log.get().and_then(|it| it.sync());
        synced.map_err(LogError::storage("fsync", &self.log.path()))
    }

    pub(super) fn sync(&self) -> Result<(), LogError> {
        self.sync_records()?;
        self.offset_index
            .entries
            .sync()
            .map_err(LogError::storage("fsync", &self.offset_index.entries.file().path()))?;
        self.time_index
            .entries
            .sync()
            .map_err(LogError::storage("fsync", &self.time_index.entries.file().path()))
    }

    /// A walk from `position`, over what readers may see.
    pub(super) fn cursor(
        &self,
        position: u64,
        window_bytes: usize,
    ) -> Result<BatchCursor, LogError> {
        self.cursor_from(position, self.base_offset, window_bytes)
    }

    /// A walk that expects `offset` or a later one at `position`.
    pub(super) fn cursor_from(
        &self,
        position: u64,
        offset: Offset,
        window_bytes: usize,
    ) -> Result<BatchCursor, LogError> {
        let path = self.log.path();
        let file = self.log.get().map_err(LogError::storage("open", &path))?;
        let range = position..self.size();
        Ok(BatchCursor::new(file, path, range, offset, window_bytes))
    }

    /// The first batch that ends at or after `offset`; `None` if the segment ends before.
    pub(super) fn locate(&self, offset: Offset) -> Result<Option<Located>, LogError> {
        if self.size() == 0 {
            return Ok(None);
        }
        let mut cursor = self.cursor(self.position_before(offset)?, LOOKUP_WINDOW_BYTES)?;
        while let Some(located) = cursor.next()? {
            if located.header.last_offset() >= offset {
                return Ok(Some(located));
            }
        }
        Ok(None)
    }

    /// Whether the batch that holds an offset has this as its largest timestamp, as the time index says.
    pub(super) fn confirms_time(&self, entry: TimestampOffset) -> Result<bool, LogError> {
        match self.locate(entry.offset) {
            Ok(found) => Ok(found.is_some_and(|it| it.holds(entry))),
            // The segment is damaged on the way, and no reason to doubt the index.
            Err(LogError::CorruptBatch { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Whether the batch at an entry's position ends where the entry says. If so, nothing before it ends later: a
    /// search for later offsets may begin there.
    pub(super) fn confirms(&self, entry: OffsetPosition) -> Result<bool, LogError> {
        match self.cursor(entry.position, HEADER_BYTES)?.next() {
            Ok(found) => Ok(found.is_some_and(|it| it.header.last_offset() == entry.last_offset)),
            Err(LogError::CorruptBatch { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Where to begin the search for `offset`: at a confirmed entry of the index, or at the start.
    fn position_before(&self, offset: Offset) -> Result<u64, LogError> {
        let mut target = offset;
        for _ in 0..ENTRIES_TRIED {
            let found = self
                .offset_index
                .lookup(target)
                .map_err(LogError::storage("read", &self.offset_index.entries.file().path()))?;
            let Some(entry) = found else { return Ok(0) };
            if self.confirms(entry)? {
                return Ok(entry.position);
            }
            // An entry of a batch that readers may not see yet is no wrong one.
            if entry.position < self.size() {
                self.doubt_index("offset index");
            }
            target = Offset(entry.last_offset.0.saturating_sub(1));
        }
        Ok(0)
    }

    /// Tells once that an index leads astray. Reads go on without it, only slower.
    pub(super) fn doubt_index(&self, index: &'static str) {
        if !self.doubted.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                segment = %self.log.path().display(), index,
                "an index does not fit its segment: searching around its wrong entries"
            );
        }
    }
}
