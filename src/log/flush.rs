//! Bringing a log to the disk: as soon as somebody waits for it (group commit), now and then (`flush.ms`), and when it is closed.
//!
//! Rule: an fsync covers what was appended before it began, and appends go on meanwhile. What an fsync must cover before it counts
//! (`flush.messages`, `klamm.flush.mode=ack`) is noted under the writer's lock, so that nobody takes it for stored earlier.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use super::{
    Log, LogError,
    log::{State, Writer},
    segment::Segment,
};
use crate::base::{Offset, TimestampMs};

/// How far a log is on disk.
#[derive(Debug)]
pub(super) struct FlushState {
    /// Records below it survive a power cut.
    synced: AtomicI64,
    /// Records below it count once they are synced.
    wanted: AtomicI64,
    /// When all of it was flushed last, or it was opened.
    flushed_at: AtomicI64,
}

impl FlushState {
    pub(super) fn new(synced: Offset, now: TimestampMs) -> Self {
        Self {
            synced: AtomicI64::new(synced.0),
            wanted: AtomicI64::new(0),
            flushed_at: AtomicI64::new(now.0),
        }
    }

    pub(super) fn synced(&self) -> Offset {
        Offset(self.synced.load(Ordering::Acquire))
    }

    fn wanted(&self) -> Offset {
        Offset(self.wanted.load(Ordering::Acquire))
    }

    /// The log will end at `end`; every so many records it has to be flushed. Called before the end is published.
    pub(super) fn note_append(&self, end: Offset, flush_messages: i64) {
        if end - self.synced() >= flush_messages {
            self.wanted.fetch_max(end.0, Ordering::AcqRel);
        }
    }

    /// No records are left at or above `end`.
    pub(super) fn note_synced(&self, end: Offset) {
        self.synced.fetch_max(end.0, Ordering::AcqRel);
    }
}

impl Log {
    /// Up to where records count as stored: the log's end, but for those that have to be fsynced before.
    pub fn stored_end(&self) -> Offset {
        // In this order: an append that has to be fsynced says so before it moves the end.
        let end = self.log_end_offset();
        if self.wants_flush() { self.flushed.synced().min(end) } else { end }
    }

    /// Whether somebody waits for [`Log::commit`].
    pub fn wants_flush(&self) -> bool {
        self.flushed.wanted() > self.flushed.synced()
    }

    /// Brings the records that were appended so far to the disk, and no more than is needed to find them again: indexes are
    /// built anew after a crash.
    pub fn commit(&self) -> Result<(), LogError> {
        let _stays = self.relocation.read();
        self.sync_records().map_err(|it| self.home().health.failed(self.unless_gone(it)))
    }

    /// fsyncs all that was appended so far, if `flush.ms` are over since the last time: recovery then begins behind it.
    pub fn flush_if_due(&self, now: TimestampMs) -> Result<(), LogError> {
        let flushed_at = TimestampMs(self.flushed.flushed_at.load(Ordering::Acquire));
        let after = u64::try_from(self.settings.load().flush_ms).unwrap_or(0);
        if self.recovery_point() == self.log_end_offset() || now.since(flushed_at) < after {
            return Ok(());
        }
        self.flush(now)
    }

    /// fsyncs all that was appended so far.
    pub fn flush(&self, now: TimestampMs) -> Result<(), LogError> {
        let _stays = self.relocation.read();
        let end = self.end_to_sync()?;
        let segments = self.segments.load_full();
        self.sync(unflushed(&segments, self.recovery_point()))
            .map_err(|it| self.home().health.failed(self.unless_gone(it)))?;
        self.flushed.note_synced(end);
        self.flushed.flushed_at.store(now.0, Ordering::Release);
        self.move_recovery_point(end).map_err(|it| self.home().health.failed(self.unless_gone(it)))
    }

    /// fsyncs the segments that were rolled since the last time; appends go on meanwhile.
    pub(super) fn flush_sealed(&self) -> Result<(), LogError> {
        let recovery_point = self.recovery_point();
        let segments = self.segments.load_full();
        let Some((active, sealed)) = segments.split_last() else { return Ok(()) };
        if active.base_offset <= recovery_point {
            return Ok(());
        }
        self.sync(unflushed(sealed, recovery_point))?;
        self.flushed.note_synced(active.base_offset);
        self.move_recovery_point(active.base_offset)
    }

    /// Not of a log that was deleted meanwhile: another topic may have its name, and its folder, by now.
    pub(super) fn move_recovery_point(&self, to: Offset) -> Result<(), LogError> {
        let mut writer = self.writer.lock();
        self.check_open(&writer)?;
        writer.move_recovery_point(to)
    }

    /// fsyncs everything; the log was told to take no more appends.
    pub(super) fn flush_at_close(&self, writer: &mut Writer) -> Result<(), LogError> {
        let segments = self.segments.load_full();
        self.sync(unflushed(&segments, writer.recovery_point))?;
        let end = self.log_end_offset();
        self.flushed.note_synced(end);
        writer.move_recovery_point(end)
    }

    fn sync_records(&self) -> Result<(), LogError> {
        let end = self.end_to_sync()?;
        let segments = self.segments.load_full();
        let from = self.flushed.synced();
        let touched = unflushed(&segments, from);
        touched.iter().try_for_each(|it| it.sync_records())?;
        // A segment that was made since is found again by its name.
        if touched.iter().any(|it| it.base_offset >= from) {
            self.sync_folder()?;
        }
        self.flushed.note_synced(end);
        Ok(())
    }

    /// The log's end; segments that are loaded after it reach at least so far.
    fn end_to_sync(&self) -> Result<Offset, LogError> {
        self.check_open(&self.writer.lock())?;
        Ok(self.log_end_offset())
    }

    /// A log that was deleted meanwhile cannot be fsynced, and need not be. Any other failure is one: a second fsync would
    /// say that all is well.
    fn unless_gone(&self, error: LogError) -> LogError {
        let is_missing = matches!(&error, LogError::Storage { source, .. } if source.kind() == io::ErrorKind::NotFound);
        if is_missing && self.writer.lock().state == State::Closed {
            return LogError::Closed(self.path());
        }
        error
    }

    fn sync(&self, segments: &[Arc<Segment>]) -> Result<(), LogError> {
        segments.iter().try_for_each(|it| it.sync())?;
        self.sync_folder()
    }

    pub(super) fn sync_folder(&self) -> Result<(), LogError> {
        let dir = self.path();
        self.home().disk.sync_dir(&dir).map_err(LogError::storage("fsync", &dir))
    }
}

impl Writer {
    /// Recovery reads the epochs of records behind the point from the records themselves: an append need not wait until the
    /// file that tells them is on disk.
    fn move_recovery_point(&mut self, to: Offset) -> Result<(), LogError> {
        self.epochs.store()?;
        self.recovery_point = self.recovery_point.max(to);
        Ok(())
    }
}

/// The segments that hold something beyond this offset. The first may begin before it: it was the active one then.
fn unflushed(segments: &[Arc<Segment>], from: Offset) -> &[Arc<Segment>] {
    let after = segments.partition_point(|it| it.base_offset <= from);
    segments.get(after.saturating_sub(1)..).unwrap_or_default()
}
