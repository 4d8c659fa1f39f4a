//! A log that is being copied to another log directory (KIP-113): its segments batch by batch, each of which is checked.
//!
//! Rule: a copy is believed only where its source is still the log's own segment, and damage is never copied. Until it has taken the
//! log's place nobody reads it, and it can be thrown away.

use std::{
    io::IoSlice,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

use super::{
    Health, Log, LogError, file::Disk, file_name, leader_epochs::LeaderEpochs, segment::Segment,
};
use crate::base::Offset;

/// In a folder that a log is moved to, until the log lies nowhere else. A start that finds the log's old folder too believes that one.
pub(super) const MOVING: &str = "klamm.moving";

/// The copy of a log in another log directory.
#[derive(Debug)]
pub struct FutureLog {
    pub(super) disk: Arc<dyn Disk>,
    /// Of the directory that the log is moved to.
    pub(super) health: Arc<Health>,
    pub(super) dir: PathBuf,
    /// What the folder is called once the log lies there.
    pub(super) place: PathBuf,
    copies: Vec<SegmentCopy>,
    /// Copied records below it are on disk, and what is known of producers and epochs too.
    pub(super) synced: Offset,
    pub(super) epochs: Option<LeaderEpochs>,
    progress: Arc<CopyProgress>,
}

/// How far a copy has come; may be asked at any time.
#[derive(Debug, Default)]
pub struct CopyProgress {
    bytes: AtomicU64,
    end: AtomicI64,
}

#[derive(Debug)]
struct SegmentCopy {
    of: Arc<Segment>,
    copy: Arc<Segment>,
    /// The offset after the last record that was copied.
    end: Offset,
    /// It gets no more records, and all of it is on disk.
    is_finished: bool,
}

impl CopyProgress {
    /// Bytes copied.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The offset after the last record that was copied.
    pub fn end_offset(&self) -> Offset {
        Offset(self.end.load(Ordering::Relaxed))
    }
}

impl FutureLog {
    /// One in a folder that was just made.
    pub(super) fn empty(
        disk: Arc<dyn Disk>,
        health: Arc<Health>,
        dir: PathBuf,
        place: PathBuf,
    ) -> Self {
        Self {
            disk,
            health,
            dir,
            place,
            copies: Vec::new(),
            synced: Offset(0),
            epochs: None,
            progress: Arc::default(),
        }
    }

    pub fn progress(&self) -> &Arc<CopyProgress> {
        &self.progress
    }

    /// Copies some `max_bytes` more; 0 when all that the log holds now is copied.
    ///
    /// # Errors
    ///
    /// [`LogError::CorruptBatch`] where the log is damaged; [`LogError::Closed`] and [`LogError::Offline`] as the log is;
    /// [`LogError::Storage`] of either directory, which is offline then unless it is only full.
    pub fn copy(&mut self, log: &Log, max_bytes: usize) -> Result<usize, LogError> {
        log.check_open(&log.writer.lock())?;
        let copied = self.copy_more(log, max_bytes)?;
        self.note_progress();
        Ok(copied)
    }

    /// Bytes of the log that are not copied.
    pub(super) fn missing_bytes(&self, log: &Log) -> u64 {
        let copied: u64 = self.copies.iter().map(|it| it.copy.size()).sum();
        log.size_bytes().saturating_sub(copied)
    }

    /// The log's segments as they are here, if all of them are.
    pub(super) fn segments(&self) -> Vec<Arc<Segment>> {
        self.copies.iter().map(|it| Arc::clone(&it.copy)).collect()
    }

    /// Brings all that was copied to the disk, with what recovery needs besides.
    pub fn sync(&mut self, log: &Log) -> Result<(), LogError> {
        self.keep_producers(log).map_err(|it| self.failed(it))?;
        let end = self.end();
        self.sync_copies().map_err(|it| self.health.failed(it))?;
        self.synced = end;
        Ok(())
    }

    /// fsyncs the copies, and their folder.
    pub(super) fn sync_copies(&self) -> Result<(), LogError> {
        let unfinished = self.copies.iter().filter(|it| !it.is_finished);
        unfinished.into_iter().try_for_each(|it| it.copy.sync())?;
        self.disk.sync_dir(&self.dir).map_err(LogError::storage("fsync", &self.dir))
    }

    pub(super) fn end(&self) -> Offset {
        self.copies.last().map_or(Offset(0), |it| it.end)
    }

    /// A failure of the directory that is moved to: one that is only full is not given up for that.
    pub(super) fn failed(&self, error: LogError) -> LogError {
        self.health.failed_this_time(error)
    }

    pub(super) fn copy_more(&mut self, log: &Log, max_bytes: usize) -> Result<usize, LogError> {
        // In this order: what lies before the last segment gets no more records.
        let segments = log.segments.load_full();
        self.forget_others(&segments);
        let interval = log.settings.load().index_interval_bytes;
        for (at, source) in segments.iter().enumerate() {
            if at == self.copies.len() {
                self.begin(source)?;
            }
            let Some(copied) = self.copies.get_mut(at) else { break };
            if copied.is_finished {
                continue;
            }
            let batches = copied
                .next_batches(max_bytes, interval)
                .map_err(|it| log.home().health.failed(it))?;
            let stored = copied.store(&batches);
            stored.map_err(|it| self.health.failed_this_time(it))?;
            if !batches.is_empty() {
                return Ok(batches.len());
            }
            if at + 1 < segments.len() {
                copied.finish().map_err(|it| self.health.failed_this_time(it))?;
            }
        }
        Ok(0)
    }

    /// Throws away copies of segments that the log does not hold any more, and those behind a gap that this leaves.
    fn forget_others(&mut self, segments: &[Arc<Segment>]) {
        let fits = |(a, b): &(&SegmentCopy, &Arc<Segment>)| Arc::ptr_eq(&a.of, b);
        let fitting = |copies: &[SegmentCopy]| copies.iter().zip(segments).take_while(fits).count();
        if fitting(&self.copies) == self.copies.len() {
            return;
        }
        let is_held = |it: &SegmentCopy| segments.iter().any(|at| Arc::ptr_eq(at, &it.of));
        let stale: Vec<_> = self.copies.extract_if(.., |it| !is_held(it)).collect();
        let kept = fitting(&self.copies);
        for it in stale.into_iter().chain(self.copies.drain(kept..)) {
            it.copy.remove(self.disk.as_ref());
        }
    }

    fn begin(&mut self, source: &Arc<Segment>) -> Result<(), LogError> {
        let base_offset = source.base_offset;
        let age = source.times().created;
        let copy = Arc::new(Segment::new(&self.disk, &self.dir, base_offset, age));
        copy.take_age_of(source);
        // A file that could not be removed may be there.
        copy.clear().map_err(|it| self.failed(it))?;
        let of = Arc::clone(source);
        self.copies.push(SegmentCopy { of, copy, end: base_offset, is_finished: false });
        Ok(())
    }

    /// Writes down what is known of producers and of epochs, as of now: recovery reads on from there.
    fn keep_producers(&mut self, log: &Log) -> Result<(), LogError> {
        let (end, snapshot, epochs) = {
            let writer = log.writer.lock();
            let epochs = writer.epochs.copy_of(&self.disk, &self.dir);
            (log.log_end_offset(), writer.snapshot(), epochs)
        };
        let path = self.dir.join(file_name::of(end, file_name::SNAPSHOT));
        self.disk.replace(&path, &snapshot, true).map_err(LogError::storage("write", &path))?;
        self.keep_epochs(epochs)
    }

    pub(super) fn keep_epochs(&mut self, mut epochs: LeaderEpochs) -> Result<(), LogError> {
        if self.epochs.as_ref().is_none_or(|it| !it.tells(&epochs)) {
            epochs.store()?;
            self.epochs = Some(epochs);
        }
        Ok(())
    }

    fn note_progress(&self) {
        let bytes = self.copies.iter().map(|it| it.copy.size()).sum();
        self.progress.bytes.store(bytes, Ordering::Relaxed);
        self.progress.end.store(self.end().0, Ordering::Relaxed);
    }

    /// Takes the folder away; what cannot be removed is removed, or copied anew, by the next start.
    pub fn discard(self) {
        let name = self.place.file_name().unwrap_or_default().to_string_lossy();
        let renamed = self.dir.with_file_name(file_name::out_of_the_way(&name, file_name::DELETE));
        let removed = self.disk.rename(&self.dir, &renamed);
        if let Err(error) = removed.and_then(|()| self.disk.remove_dir_all(&renamed)) {
            tracing::warn!(dir = %self.dir.display(), %error, "could not remove the copy of a log that is not moved any more");
        }
    }

    /// The folder has another name.
    pub(super) fn renamed_to(&mut self, dir: &Path) {
        dir.clone_into(&mut self.dir);
        for it in &self.copies {
            it.copy.moved_to(dir);
        }
        if let Some(epochs) = &mut self.epochs {
            epochs.moved_to(dir);
        }
    }
}

impl SegmentCopy {
    /// What comes next, whole batches of some `max_bytes`, noted in the indexes.
    fn next_batches(
        &mut self,
        max_bytes: usize,
        index_interval_bytes: u32,
    ) -> Result<Vec<u8>, LogError> {
        let mut batches = Vec::new();
        if self.copy.size() == self.of.size() {
            return Ok(batches);
        }
        let modified = self.of.times().modified;
        let mut cursor = self.of.cursor_from(self.copy.size(), self.end, max_bytes)?;
        while batches.len() < max_bytes
            && let Some(located) = cursor.next()?
        {
            cursor.verify(&located)?;
            batches.extend_from_slice(&cursor.read(&located)?.bytes);
            self.copy.note(&located.header, located.position, index_interval_bytes, modified);
            self.end = located.header.last_offset() + 1;
        }
        Ok(batches)
    }

    fn store(&self, batches: &[u8]) -> Result<(), LogError> {
        if !batches.is_empty() {
            let written = self.copy.write(&mut [IoSlice::new(batches)]);
            written.map_err(|(failed, _)| failed)?;
            self.copy.set_size(self.copy.size() + batches.len() as u64);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), LogError> {
        self.copy.seal()?;
        self.copy.sync()?;
        // A log may have more segments than files that may be open.
        self.copy.close_files();
        self.of.close_files();
        self.is_finished = true;
        Ok(())
    }
}
