//! Log compaction, as Kafka's `LogCleaner`: of the records with one key, only the newest stays.
//!
//! look what is dirty → note the newest offset of each key there → write all segments up to its end anew, without what is
//! superseded → put them in the place of the old ones → note where the dirty part begins now
//!
//! Rule: what supersedes a record is on disk before that record goes, and offsets, order and what is known of producers stay as
//! they are. A log with a batch that cannot be read is left alone: a key in it might be an older one's, or a newer one's.

mod cleanable;
mod group;
mod interrupted;
mod offset_map;
mod output;
mod retained;
mod round;
mod swap;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use parking_lot::Mutex;

pub use self::cleanable::Cleanable;
pub(super) use self::interrupted::complete_swaps;
use self::{
    cleanable::{SealedSpan, cleanable},
    round::Round,
};
use super::{Background, Log, LogError, maintenance::span, segment::Segment};
use crate::{
    base::{Offset, TimestampMs},
    config::CleanerConfig,
};

/// What the cleaner knows of one log.
#[derive(Debug, Default)]
pub(super) struct CleanedState {
    /// What lies before it is clean.
    first_dirty: AtomicI64,
    /// Held by the thread that cleans the log, or moves it to another directory.
    pub(super) busy: Mutex<()>,
    /// A batch of it cannot be read.
    is_uncleanable: AtomicBool,
    /// When it could not be cleaned last: it is left alone then, so that others have their turn.
    failed_at: AtomicI64,
}

/// What all threads that clean have in common.
#[derive(Debug)]
pub struct Cleaner {
    sizes: Mutex<Sizes>,
    background: Background,
}

/// What a thread may take for one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) map_bytes_max: usize,
    pub(crate) buffer_bytes: usize,
}

impl Sizes {
    fn new(config: &CleanerConfig) -> Self {
        let threads = config.threads.max(1);
        Self {
            map_bytes_max: config.dedupe_buffer_bytes / threads,
            buffer_bytes: config.io_buffer_bytes / threads,
        }
    }
}

/// What one round over a log has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// All that was to be cleaned is; otherwise the log has changed meanwhile, or the node stops.
    pub complete: bool,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

/// How long a log is left alone that could not be cleaned: a full disk most often stays so for a while.
const RETRY_AFTER_MS: i64 = 60_000;

impl Cleaner {
    pub fn new(config: &CleanerConfig) -> Self {
        Self {
            sizes: Mutex::new(Sizes::new(config)),
            background: Background::new(config.io_max_bytes_per_second),
        }
    }

    /// Ends what runs, soon; what it has done so far stays.
    pub fn stop(&self) {
        self.background.stop();
    }

    pub fn is_stopped(&self) -> bool {
        self.background.is_stopped()
    }

    /// Cleans a log up to `ceiling` at most, if nobody else does and there is something to clean.
    ///
    /// # Errors
    ///
    /// [`LogError::CorruptBatch`] and [`LogError::Undecodable`] make the log uncleanable until a restart.
    pub fn clean(
        &self,
        log: &Log,
        ceiling: Offset,
        now: TimestampMs,
    ) -> Result<Option<Cleaned>, LogError> {
        let Some(_busy) = log.cleaned.busy.try_lock() else { return Ok(None) };
        if !log.flush_if_open()? {
            return Ok(None);
        }
        // What was sealed since is in the page cache alone, perhaps.
        let ceiling = ceiling.min(log.recovery_point());
        let Some(dirty) = log.cleanable(ceiling, now)? else { return Ok(None) };
        let cleaned = match Round::new(self, log, now).run(dirty) {
            // It was closed or deleted meanwhile, and its folder perhaps with it.
            Err(_) if log.is_closed() => Ok(Cleaned::default()),
            // A disk that is full may have room when it is tried again; one that is broken serves nobody.
            other => other.map_err(|it| log.home().health.failed_this_time(it)),
        };
        if let Err(LogError::CorruptBatch { .. } | LogError::Undecodable { .. }) = &cleaned {
            log.cleaned.is_uncleanable.store(true, Ordering::Relaxed);
        }
        if cleaned.is_err() {
            log.cleaned.failed_at.store(now.0, Ordering::Relaxed);
        }
        cleaned.map(Some)
    }

    /// Takes over changed settings: the rate also of what runs, the sizes for the rounds to come.
    pub fn alter(&self, config: &CleanerConfig) {
        self.background.set_rate(config.io_max_bytes_per_second);
        *self.sizes.lock() = Sizes::new(config);
    }

    pub(crate) fn sizes(&self) -> Sizes {
        *self.sizes.lock()
    }

    #[cfg(test)]
    pub(crate) fn bytes_per_second(&self) -> f64 {
        self.background.bytes_per_second()
    }

    /// Takes note of bytes read or written, and rests if they were too many.
    fn spend(&self, bytes: usize) {
        self.background.spend(bytes);
    }
}

impl Log {
    /// The part of it that may be cleaned, below `ceiling`; `None` for none, and for a log that is not compacted.
    pub fn cleanable(
        &self,
        ceiling: Offset,
        now: TimestampMs,
    ) -> Result<Option<Cleanable>, LogError> {
        let settings = self.settings.load();
        let is_open = || self.check_open(&self.writer.lock()).is_ok();
        if !settings.cleanup_policy.compact || self.is_uncleanable() || !is_open() {
            return Ok(None);
        }
        let segments = self.segments.load_full();
        let Some((active, sealed)) = segments.split_last() else { return Ok(None) };
        let first_dirty = self.first_dirty();
        // Only a limit on it needs to know how old a segment is at its front.
        let knows_first = settings.max_compaction_lag_ms < i64::MAX;
        let mut spans = Vec::with_capacity(sealed.len());
        for segment in sealed {
            let (size, youngest) = (segment.size(), span(segment).youngest);
            let is_dirty = segment.base_offset >= first_dirty;
            let first = if knows_first && is_dirty { self.first_of(segment)? } else { None };
            spans.push(SealedSpan { base_offset: segment.base_offset, size, youngest, first });
        }
        Ok(cleanable(&spans, active.base_offset, first_dirty, ceiling, &settings, now))
    }

    fn first_of(&self, segment: &Segment) -> Result<Option<TimestampMs>, LogError> {
        segment.first_timestamp().map_err(|it| self.home().health.failed_this_time(it))
    }

    /// Sees to it that all that is sealed is on disk: what supersedes a record must be, before that one goes.
    fn flush_if_open(&self) -> Result<bool, LogError> {
        // A folder that is deleted meanwhile would look like a failing disk.
        let _set = self.segment_set.lock();
        let is_open = self.check_open(&self.writer.lock()).is_ok();
        if is_open {
            self.flush_sealed().map_err(|it| self.home().health.failed(it))?;
        }
        Ok(is_open)
    }

    /// Whether it is time to clean what is cleanable.
    pub fn is_due(&self, cleanable: &Cleanable) -> bool {
        cleanable.is_due(&self.settings.load())
    }

    /// Whether some thread cleans or moves it now, or could not clean it shortly before.
    pub fn is_left_alone(&self, now: TimestampMs) -> bool {
        let failed_ms_ago = now.0.saturating_sub(self.cleaned.failed_at.load(Ordering::Relaxed));
        // A clock that was set back keeps nobody waiting.
        self.cleaned.busy.is_locked() || (0..RETRY_AFTER_MS).contains(&failed_ms_ago)
    }

    /// Where what was not cleaned yet begins.
    pub fn first_dirty(&self) -> Offset {
        Offset(self.cleaned.first_dirty.load(Ordering::Acquire)).max(self.log_start_offset())
    }

    /// As the checkpoint tells it after a start.
    pub(super) fn set_first_dirty(&self, offset: Offset) {
        let offset = offset.min(self.log_end_offset());
        self.cleaned.first_dirty.store(offset.0, Ordering::Release);
    }

    /// For the checkpoint; `None` for a log that was never cleaned.
    pub fn cleaner_point(&self) -> Option<Offset> {
        let offset = self.cleaned.first_dirty.load(Ordering::Acquire);
        (offset > 0).then_some(Offset(offset))
    }

    /// Whether a batch that cannot be read was met. As in Kafka, a restart tries again.
    pub fn is_uncleanable(&self) -> bool {
        self.cleaned.is_uncleanable.load(Ordering::Relaxed)
    }
}
