//! Where a log begins for those who read it: at its first segment, or at a later offset up to which its records were
//! deleted on request (KIP-107).
//!
//! Rule: a start that the segments do not tell is the directory's to remember. Segments wholly below it are deleted by
//! retention, whatever the topic's policy; what is still there is read by nobody but the routes' recovery.

use std::sync::{Arc, atomic::Ordering};

use super::{Log, LogError, segment::Segment};
use crate::base::Offset;

impl Log {
    pub fn log_start_offset(&self) -> Offset {
        Offset(self.start.load(Ordering::Acquire))
    }

    /// Deletes all records below an offset for readers; one below the start changes nothing.
    ///
    /// # Errors
    ///
    /// [`LogError::OffsetOutOfRange`] beyond the log's end or below 0.
    pub fn raise_start(&self, to: Offset) -> Result<(), LogError> {
        let mut writer = self.writer.lock();
        self.check_open(&writer)?;
        if to.0 < 0 || to > self.log_end_offset() {
            return Err(self.out_of_range(to));
        }
        if to > self.log_start_offset() {
            // Not stored: a start forgets them likewise, and appends wait for no disk here.
            writer.epochs.truncate_to(to);
            self.start.store(to.0, Ordering::Release);
        }
        Ok(())
    }

    pub(super) fn out_of_range(&self, asked: Offset) -> LogError {
        let (log_start, log_end) = (self.log_start_offset(), self.log_end_offset());
        LogError::OffsetOutOfRange { asked, log_start, log_end }
    }

    /// The start, where the first segment begins before it.
    pub fn start_within_segments(&self) -> Option<Offset> {
        let log_start = self.log_start_offset();
        let begins_before = |it: &Arc<Segment>| it.base_offset < log_start;
        self.segments.load().first().is_some_and(begins_before).then_some(log_start)
    }
}

/// How many segments from the front end at or below the log's start; the active one never counts.
pub(super) fn below_start(segments: &[Arc<Segment>], log_start: Offset) -> usize {
    segments.partition_point(|it| it.base_offset <= log_start).saturating_sub(1)
}
