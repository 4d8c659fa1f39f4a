//! Log compaction, as Kafka's `LogCleaner`: of the records with one key, only the newest stays.
//!
//! look what is dirty → note the newest offset of each key there → write all segments up to its end anew, without what is
//! superseded → put them in the place of the old ones → note where the dirty part begins now
//!
//! Rule: what supersedes a record is on disk before that record goes, and offsets, order and what is known of producers stay as
//! they are. A log with a batch that cannot be read is left alone: a key in it might be an older one's, or a newer one's.

mod cleanable;
mod group;
mod offset_map;
mod output;
mod retained;
mod swap;
mod throttle;

#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;

pub use self::cleanable::Cleanable;
pub(super) use self::swap::complete_swaps;
use self::{
    cleanable::{SealedSpan, cleanable},
    group::{GroupSpan, groups},
    offset_map::OffsetMap,
    output::CleanedSegment,
    retained::{LastBatches, Rule, control_key},
    throttle::Throttle,
};
use super::{Log, LogError, LogSettings, maintenance::span, segment::Segment};
use crate::{
    base::{Offset, TimestampMs},
    config::CleanerConfig,
    telemetry,
    wire::record_batch::{Batch, BatchError, BatchHeader, Compacted},
};

/// What the cleaner knows of one log.
#[derive(Debug, Default)]
pub(super) struct CleanedState {
    /// What lies before it is clean.
    first_dirty: AtomicI64,
    /// Held by the thread that cleans the log.
    busy: Mutex<()>,
    /// A batch of it cannot be read.
    is_uncleanable: AtomicBool,
}

/// What all threads that clean have in common.
#[derive(Debug)]
pub struct Cleaner {
    map_bytes_max: usize,
    buffer_bytes: usize,
    throttle: Mutex<Throttle>,
    stopped: AtomicBool,
}

/// What one round over a log has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// All that was to be cleaned is; otherwise the log has changed meanwhile, or the node stops.
    pub complete: bool,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

/// The longest rest without a look at whether the node stops.
const REST: Duration = Duration::from_millis(50);

impl Cleaner {
    pub fn new(config: &CleanerConfig) -> Self {
        Self {
            map_bytes_max: config.dedupe_buffer_bytes / config.threads.max(1),
            buffer_bytes: config.io_buffer_bytes / config.threads.max(1),
            throttle: Mutex::new(Throttle::new(config.io_max_bytes_per_second)),
            stopped: AtomicBool::new(false),
        }
    }

    /// Ends what runs, soon; what it has done so far stays.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
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
        // What supersedes a record must be on disk first.
        log.flush_sealed()?;
        let Some(dirty) = log.cleanable(ceiling, now)? else { return Ok(None) };
        let cleaned = match Round::new(self, log, now).run(dirty) {
            // It was closed or deleted meanwhile, and its folder perhaps with it.
            Err(_) if log.is_closed() => Ok(Cleaned::default()),
            other => other,
        };
        if let Err(LogError::CorruptBatch { .. } | LogError::Undecodable { .. }) = &cleaned {
            log.cleaned.is_uncleanable.store(true, Ordering::Relaxed);
        }
        cleaned.map(Some)
    }

    /// Takes note of bytes read or written, and rests if they were too many.
    fn spend(&self, bytes: usize) {
        let rest_ms = self.throttle.lock().spend(bytes, telemetry::now());
        let mut rest = Duration::from_millis(rest_ms);
        while !rest.is_zero() && !self.is_stopped() {
            thread::sleep(rest.min(REST));
            rest = rest.saturating_sub(REST);
        }
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
        if !settings.cleanup_policy.compact || self.is_uncleanable() {
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
            let first = if knows_first && is_dirty { segment.first_timestamp()? } else { None };
            spans.push(SealedSpan { base_offset: segment.base_offset, size, youngest, first });
        }
        Ok(cleanable(&spans, active.base_offset, first_dirty, ceiling, &settings, now))
    }

    /// Whether it is time to clean what is cleanable.
    pub fn is_due(&self, cleanable: &Cleanable) -> bool {
        cleanable.is_due(&self.settings.load())
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

/// One round over one log.
struct Round<'a> {
    cleaner: &'a Cleaner,
    log: &'a Log,
    settings: Arc<LogSettings>,
    now: TimestampMs,
    cleaned: Cleaned,
}

impl<'a> Round<'a> {
    fn new(cleaner: &'a Cleaner, log: &'a Log, now: TimestampMs) -> Self {
        let settings = log.settings.load_full();
        Self { cleaner, log, settings, now, cleaned: Cleaned::default() }
    }

    fn run(mut self, dirty: Cleanable) -> Result<Cleaned, LogError> {
        let segments = self.log.segments.load_full();
        let Some(rule) = self.look(&segments, dirty)? else { return Ok(self.cleaned) };
        let end = rule.newest.latest() + 1;
        if end <= dirty.first_dirty {
            return Ok(self.cleaned);
        }
        let below_end = segments.partition_point(|it| it.base_offset < end);
        let mut rest = segments.get(..below_end).unwrap_or_default();
        for count in groups(&spans(&segments, below_end), &self.settings) {
            let (group, after) = rest.split_at(count);
            if !self.clean_group(group, &rule)? {
                return Ok(self.cleaned);
            }
            rest = after;
        }
        self.log.cleaned.first_dirty.store(end.0, Ordering::Release);
        self.cleaned.complete = true;
        Ok(self.cleaned)
    }

    /// Notes the newest record of each key in the dirty part, as far as there is memory for it. `None` if the node stops.
    fn look(
        &mut self,
        segments: &[Arc<Segment>],
        dirty: Cleanable,
    ) -> Result<Option<Rule>, LogError> {
        let Cleanable { first_dirty, end, .. } = dirty;
        let last_batches = LastBatches::of(&self.log.writer.lock().producers);
        let mut rule = Rule {
            newest: OffsetMap::new(first_dirty, end - first_dirty, self.cleaner.map_bytes_max),
            last_batches,
            now: self.now,
            delete_retention_ms: self.settings.delete_retention_ms,
        };
        let from = segments.partition_point(|it| it.base_offset <= first_dirty).saturating_sub(1);
        let dirty = segments.iter().skip(from).take_while(|it| it.base_offset < end);
        // All of a batch is committed, or nothing is looked at.
        let mut looked_up_to = end;
        for segment in dirty {
            let goes_on = self.each_batch(segment, first_dirty, |round, batch| {
                let is_committed = batch.header.last_offset() < end;
                if !is_committed {
                    looked_up_to = looked_up_to.min(batch.header.base_offset);
                }
                Ok(is_committed && round.note(segment, &batch, first_dirty, &mut rule)?)
            })?;
            if self.cleaner.is_stopped() {
                return Ok(None);
            }
            if !goes_on || rule.newest.is_full() {
                break;
            }
        }
        if !rule.newest.is_full() {
            rule.newest.pass(Offset(looked_up_to.0 - 1));
        }
        Ok(Some(rule))
    }

    /// Notes a batch's records; `false` if there is no room for all.
    fn note(
        &self,
        segment: &Segment,
        batch: &Batch,
        first_dirty: Offset,
        rule: &mut Rule,
    ) -> Result<bool, LogError> {
        let header = &batch.header;
        rule.last_batches.note(header);
        let mut put = |key: &[u8], offset: Offset| {
            let has_room = !rule.newest.is_full();
            if has_room && offset >= first_dirty {
                rule.newest.put(key, offset);
            }
            has_room
        };
        let mut fits = true;
        if header.attributes.is_control() {
            if let Some(record) = control_key(batch) {
                fits = put(&record.key, header.last_offset());
            }
        } else {
            let noted = batch.records(self.settings.decompressed_max_bytes).and_then(|records| {
                records.for_each(|record| {
                    if let Some(key) = record.key().filter(|_| fits) {
                        fits = put(key, header.base_offset + i64::from(record.offset_delta()));
                    }
                })
            });
            noted.map_err(|it| undecodable(segment, header, &it))?;
        }
        if fits {
            rule.newest.pass(header.last_offset());
        }
        Ok(fits)
    }

    /// Writes a group of segments anew, as one, and puts it in their place. `false` if that is no longer to be done.
    fn clean_group(&mut self, group: &[Arc<Segment>], rule: &Rule) -> Result<bool, LogError> {
        let mut output = CleanedSegment::create(self.log, group, self.cleaner.buffer_bytes)?;
        let filled = self.fill(&mut output, group, rule).and_then(|is_whole| {
            if is_whole && !output.is_empty() { output.finish().map(|()| true) } else { Ok(false) }
        });
        match filled {
            Ok(true) => self.log.swap(group, output.into_segment(), self.now),
            Ok(false) => {
                output.discard();
                // A group without a batch is as clean as it can be.
                Ok(!self.cleaner.is_stopped())
            }
            Err(error) => {
                output.discard();
                Err(error)
            }
        }
    }

    /// `false` if the node stops.
    fn fill(
        &mut self,
        output: &mut CleanedSegment,
        group: &[Arc<Segment>],
        rule: &Rule,
    ) -> Result<bool, LogError> {
        // The last batch stays, if only empty: it tells how far the segment reaches.
        let mut left_out: Option<BatchHeader> = None;
        for segment in group {
            let max_bytes = self.settings.decompressed_max_bytes;
            let goes_on = self.each_batch(segment, segment.base_offset, |round, batch| {
                let compacted = rule.compact(&batch, max_bytes);
                let left = match compacted.map_err(|it| undecodable(segment, &batch.header, &it))? {
                    Compacted::Unchanged => batch,
                    Compacted::Rebuilt(rebuilt) => rebuilt,
                    Compacted::Nothing if rule.last_batches.holds(&batch.header) => {
                        batch.header.emptied()
                    }
                    Compacted::Nothing => {
                        left_out = Some(batch.header);
                        return Ok(true);
                    }
                };
                left_out = None;
                round.write(output, &left)?;
                Ok(true)
            })?;
            if !goes_on {
                return Ok(false);
            }
        }
        if let Some(header) = left_out {
            self.write(output, &header.emptied())?;
        }
        Ok(true)
    }

    fn write(&mut self, output: &mut CleanedSegment, batch: &Batch) -> Result<(), LogError> {
        output.push(batch)?;
        self.cleaned.bytes_written += batch.bytes.len() as u64;
        self.cleaner.spend(batch.bytes.len());
        Ok(())
    }

    /// Hands on the batches that end at or after `from`, checked, until one is answered with `false` or the node stops; whether
    /// it came to the end.
    fn each_batch(
        &mut self,
        segment: &Segment,
        from: Offset,
        mut visit: impl FnMut(&mut Self, Batch) -> Result<bool, LogError>,
    ) -> Result<bool, LogError> {
        let Some(first) = segment.locate(from)? else { return Ok(true) };
        let mut cursor = segment.cursor(first.position, self.cleaner.buffer_bytes)?;
        while let Some(located) = cursor.next()? {
            cursor.verify(&located)?;
            let batch = cursor.read(&located)?;
            self.cleaned.bytes_read += batch.bytes.len() as u64;
            self.cleaner.spend(batch.bytes.len());
            if self.cleaner.is_stopped() || !visit(self, batch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn spans(segments: &[Arc<Segment>], count: usize) -> Vec<GroupSpan> {
    let with_next = segments.iter().zip(segments.iter().skip(1)).take(count);
    let span = |(segment, next): (&Arc<Segment>, &Arc<Segment>)| GroupSpan {
        base_offset: segment.base_offset,
        end: next.base_offset,
        size: segment.size(),
        offset_index_bytes: segment.offset_index.entries.size_bytes(),
        time_index_bytes: segment.time_index.entries.size_bytes(),
    };
    with_next.map(span).collect()
}

fn undecodable(segment: &Segment, header: &BatchHeader, error: &BatchError) -> LogError {
    LogError::Undecodable {
        offset: header.base_offset,
        segment: segment.log.path(),
        reason: error.to_string(),
    }
}
