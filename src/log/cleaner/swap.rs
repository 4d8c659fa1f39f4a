//! A cleaned segment takes the place of those that it was made from.
//!
//! | files                                                  | mean                                                                     |
//! |--------------------------------------------------------|--------------------------------------------------------------------------|
//! | `B.log.cleaned`, `B.index.cleaned`, `B.timeindex.cleaned` | the segment at offset B is not whole: a start removes it                 |
//! | `B.log.swap` (and its indexes, `.swap` or in place)    | it is whole, and holds for all segments from B to its last offset        |
//! | `….replaced` beside a `.log.swap`                      | what it is made from; without one, the change is done and they may go    |
//!
//! Rule: the `.log` is renamed last, and only when all else of a step is on disk; so its name tells how far the change has come. A
//! start carries on from there. Until then nothing of what the segment was made from goes: where its bytes turn out to be
//! damaged, or the disk refuses a step, all of that gets its names back.

use std::sync::{Arc, atomic::Ordering};

use super::super::{Log, LogError, file_name, log::State, segment::Segment};
use crate::base::{Offset, TimestampMs};

impl Log {
    /// Puts `cleaned` in the place of `old`. `false`, with its files removed, if the log does not hold all of `old` any more.
    ///
    /// # Errors
    ///
    /// The log is as it was, or takes no more appends until a start.
    pub(super) fn swap(
        &self,
        old: &[Arc<Segment>],
        cleaned: Arc<Segment>,
        now: TimestampMs,
    ) -> Result<bool, LogError> {
        let _set = self.segment_set.lock();
        if !self.holds(old) {
            cleaned.remove(self.home().disk.as_ref());
            return Ok(false);
        }
        self.announce(&cleaned).inspect_err(|_| {
            cleaned.remove(self.home().disk.as_ref());
        })?;
        if let Err(error) = self.change_files(old, &cleaned) {
            self.change_back(old, &cleaned).map_err(|it| self.left_half_way(it))?;
            return Err(error);
        }
        self.publish_in_place_of(old, &cleaned);
        cleaned.close_files();
        self.let_go(old, now).inspect_err(|_| self.is_cleaned_no_more())?;
        self.remove_snapshots_of(old)?;
        Ok(true)
    }

    /// Who reads goes on; what is appended could not be told from what a start takes for it.
    fn left_half_way(&self, error: LogError) -> LogError {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        tracing::error!(dir = %self.path().display(), %error, cause, "took a log offline: its cleaned segment is not in place, which the next start carries on");
        self.writer.lock().state = State::Offline;
        error
    }

    pub(super) fn holds(&self, old: &[Arc<Segment>]) -> bool {
        let segments = self.segments.load();
        let at = first_of(&segments, old);
        let found = segments.get(at..at + old.len()).unwrap_or_default();
        found.len() == old.len() && found.iter().zip(old).all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// From here on a start carries the change on. Under the lock, so that a folder that is being deleted is left alone.
    fn announce(&self, cleaned: &Segment) -> Result<(), LogError> {
        {
            let writer = self.writer.lock();
            self.check_open(&writer)?;
            cleaned.rename(file_name::swap)?;
        }
        self.sync_folder()
    }

    fn change_files(&self, old: &[Arc<Segment>], cleaned: &Segment) -> Result<(), LogError> {
        old.iter().try_for_each(|it| it.put(file_name::replaced).map(drop))?;
        self.sync_folder()?;
        cleaned.rename(|it| it.with_extension(""))?;
        self.sync_folder()
    }

    /// Undoes [`Log::change_files`], wherever it ended. Meanwhile a start would still carry it on.
    fn change_back(&self, old: &[Arc<Segment>], cleaned: &Segment) -> Result<(), LogError> {
        cleaned.rename(file_name::swap)?;
        old.iter().try_for_each(|it| it.put(file_name::in_place).map(drop))?;
        cleaned.remove(self.home().disk.as_ref());
        Ok(())
    }

    fn publish_in_place_of(&self, old: &[Arc<Segment>], cleaned: &Arc<Segment>) {
        // Under the lock: an append may begin a new segment.
        let _writer = self.writer.lock();
        let mut segments = self.segments.load().as_ref().clone();
        let at = first_of(&segments, old);
        segments.splice(at..at + old.len(), [Arc::clone(cleaned)]);
        self.segments.store(Arc::new(segments));
    }

    fn let_go(&self, old: &[Arc<Segment>], now: TimestampMs) -> Result<(), LogError> {
        let due = self.deletion_due(now);
        let mut failure = None;
        for segment in old {
            let files = segment.mark_deleted().unwrap_or_else(|error| {
                failure = Some(error);
                segment.paths()
            });
            self.writer.lock().deleted.push((due, files));
            segment.close_if_unread();
        }
        failure.map_or(Ok(()), Err)
    }

    /// A name that still ends in `.replaced` would be taken for a part of the next change.
    fn is_cleaned_no_more(&self) {
        self.cleaned.is_uncleanable.store(true, Ordering::Relaxed);
    }

    /// No segment begins there any more.
    fn remove_snapshots_of(&self, old: &[Arc<Segment>]) -> Result<(), LogError> {
        old.iter().skip(1).try_for_each(|segment| {
            let name = file_name::of(segment.base_offset, file_name::SNAPSHOT);
            let path = self.path().join(name);
            self.home().disk.remove(&path).map_err(LogError::storage("remove", &path))
        })
    }
}

fn first_of(segments: &[Arc<Segment>], old: &[Arc<Segment>]) -> usize {
    let base_offset = old.first().map_or(Offset(0), |it| it.base_offset);
    segments.partition_point(|it| it.base_offset < base_offset)
}
