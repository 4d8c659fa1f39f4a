//! One round over one log: look at what is dirty, then write every segment up to there anew.

use std::sync::{Arc, atomic::Ordering};

use super::{
    Cleanable, Cleaned, Cleaner,
    group::{GroupSpan, groups},
    offset_map::OffsetMap,
    output::CleanedSegment,
    retained::{LastBatches, Rule},
};
use crate::{
    base::{Offset, TimestampMs},
    log::{Log, LogError, LogSettings, segment::Segment},
    wire::record_batch::{Batch, BatchError, BatchHeader, Compacted},
};

pub(super) struct Round<'a> {
    cleaner: &'a Cleaner,
    log: &'a Log,
    settings: Arc<LogSettings>,
    now: TimestampMs,
    cleaned: Cleaned,
}

impl<'a> Round<'a> {
    pub(super) fn new(cleaner: &'a Cleaner, log: &'a Log, now: TimestampMs) -> Self {
        let settings = log.settings.load_full();
        Self { cleaner, log, settings, now, cleaned: Cleaned::default() }
    }

    pub(super) fn run(mut self, dirty: Cleanable) -> Result<Cleaned, LogError> {
        let segments = self.log.segments.load_full();
        let mut rule = self.rule(dirty);
        self.look(&segments, dirty, &mut rule)?;
        let end = rule.newest.latest() + 1;
        if end <= dirty.first_dirty {
            return Ok(self.cleaned);
        }
        let below_end = segments.partition_point(|it| it.base_offset < end);
        let groups = groups(&spans(&segments, below_end), &self.settings);
        let mut rest = segments.get(..below_end).unwrap_or_default().to_vec();
        // What is replaced closes its files once nobody reads it any more.
        drop(segments);
        for count in groups {
            let group: Vec<_> = rest.drain(..count).collect();
            if !self.clean_group(&group, &rule)? {
                return Ok(self.cleaned);
            }
        }
        self.log.cleaned.first_dirty.store(end.0, Ordering::Release);
        self.cleaned.complete = true;
        Ok(self.cleaned)
    }

    /// One that knows no key yet.
    fn rule(&self, dirty: Cleanable) -> Rule {
        let Cleanable { first_dirty, end, .. } = dirty;
        Rule {
            newest: OffsetMap::new(first_dirty, end - first_dirty, self.cleaner.map_bytes_max),
            last_batches: LastBatches::of(&self.log.writer.lock().producers),
            now: self.now,
            delete_retention_ms: self.settings.delete_retention_ms,
            decompressed_max_bytes: self.settings.decompressed_max_bytes,
        }
    }

    /// Notes the newest record of each key in the dirty part, as far as there is memory for it.
    fn look(
        &mut self,
        segments: &[Arc<Segment>],
        dirty: Cleanable,
        rule: &mut Rule,
    ) -> Result<(), LogError> {
        let Cleanable { first_dirty, end, .. } = dirty;
        let from = segments.partition_point(|it| it.base_offset <= first_dirty).saturating_sub(1);
        let dirty = segments.iter().skip(from).take_while(|it| it.base_offset < end);
        // All of a batch is committed, or nothing of it is looked at.
        let mut looked_up_to = end;
        for segment in dirty {
            let goes_on = self.each_batch(segment, first_dirty, |_, batch| {
                if batch.header.last_offset() >= end {
                    looked_up_to = looked_up_to.min(batch.header.base_offset);
                    return Ok(false);
                }
                let noted = rule.note(&batch, first_dirty);
                noted.map_err(|it| undecodable(segment, &batch.header, &it))
            })?;
            // A log may have more segments than there may be files open.
            segment.close_files();
            if self.cleaner.is_stopped() || rule.newest.is_full() {
                return Ok(());
            }
            if !goes_on {
                break;
            }
        }
        rule.newest.pass(Offset(looked_up_to.0 - 1));
        Ok(())
    }

    /// Writes a group of segments anew, as one, and puts it in their place. `false` if that is no longer to be done.
    fn clean_group(&mut self, group: &[Arc<Segment>], rule: &Rule) -> Result<bool, LogError> {
        let mut output = CleanedSegment::create(self.log, group, self.cleaner.buffer_bytes)?;
        let filled = self.fill(&mut output, group, rule).and_then(|is_whole| {
            if is_whole && !output.is_empty() {
                output.finish(&self.log.home().health).map(|()| true)
            } else {
                Ok(false)
            }
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
                // Files of what retention has taken meanwhile may be gone.
                if self.log.holds(group) { Err(error) } else { Ok(false) }
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
            let goes_on = self.each_batch(segment, segment.base_offset, |round, batch| {
                let header = batch.header.clone();
                let left = left_of(batch, rule).map_err(|it| undecodable(segment, &header, &it))?;
                left_out = if left.is_none() { Some(header) } else { None };
                left.map_or(Ok(()), |it| round.write(output, &it))?;
                Ok(true)
            })?;
            segment.close_files();
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

/// What is to be written of a batch, if anything.
fn left_of(batch: Batch, rule: &Rule) -> Result<Option<Batch>, BatchError> {
    Ok(match rule.compact(&batch)? {
        Compacted::Unchanged => Some(batch),
        Compacted::Rebuilt(rebuilt) => Some(rebuilt),
        Compacted::Nothing => {
            rule.last_batches.holds(&batch.header).then(|| batch.header.emptied())
        }
    })
}

/// Of the first `count`; there is always a segment behind them.
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
