//! Reading a log: batches from an offset, and offsets by time. No lock is held while a file is read.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    Log, LogError,
    cursor::{LOOKUP_WINDOW_BYTES, Located, is_possible},
    segment::Segment,
    span::{Span, belies},
    time_index::TimestampOffset,
};
use crate::{
    base::{LeaderEpoch, Offset, TimestampMs},
    telemetry::now,
    wire::record_batch::{Batch, BatchHeader, HEADER_BYTES, TimestampType},
};

/// Whole batches, the first of which may begin before the offset that was asked for.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    pub records: Bytes,
    pub next_offset: Offset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampAndOffset {
    pub timestamp: TimestampMs,
    pub offset: Offset,
    pub leader_epoch: LeaderEpoch,
}

impl Log {
    /// Reads whole batches from the one that holds `from`, up to but excluding `ceiling`, about `max_bytes`
    /// of them; the first one is returned whole however large if `at_least_one` (KIP-74).
    ///
    /// # Errors
    ///
    /// [`LogError::OffsetOutOfRange`] below the log's start or beyond its end, whatever the ceiling.
    pub fn read(
        &self,
        from: Offset,
        ceiling: Offset,
        max_bytes: usize,
        at_least_one: bool,
    ) -> Result<Fetched, LogError> {
        match self.span(from, ceiling, max_bytes, at_least_one)? {
            Some(span) => self.told(read_span(&span, from, ceiling.min(self.log_end_offset()))),
            None => Ok(Fetched { records: Bytes::new(), next_offset: from }),
        }
    }

    /// Tells of damage that a reader met, now and then: it meets it again with each request.
    pub(super) fn told<T>(&self, read: Result<T, LogError>) -> Result<T, LogError> {
        read.map_err(|error| self.home().health.failed(error)).inspect_err(|error| {
            if let LogError::CorruptBatch { offset, segment } = error
                && self.damage.is_due(now())
            {
                tracing::error!(
                    segment = %segment.display(), offset = offset.0,
                    "a reader met a damaged batch: it is told CORRUPT_MESSAGE"
                );
            }
        })
    }

    /// The lowest offset whose timestamp is at or after `target`, below `ceiling` (KIP-79).
    ///
    /// Costs a search in a time index, a scan of about `index.interval.bytes`, and the decoding of one batch.
    pub fn offset_for_timestamp(
        &self,
        target: TimestampMs,
        ceiling: Offset,
    ) -> Result<Option<TimestampAndOffset>, LogError> {
        for segment in self.segments_from(self.log_start_offset()).iter() {
            if segment.times().largest.is_none_or(|it| it.timestamp < target) {
                continue;
            }
            if let Some(found) = self.told(self.find_in(segment, target))? {
                return Ok(Some(found).filter(|it| it.offset < ceiling));
            }
        }
        Ok(None)
    }

    /// The record with the largest timestamp (KIP-734), of those that were not deleted.
    pub fn max_timestamp(&self) -> Result<Option<TimestampAndOffset>, LogError> {
        let log_start = self.log_start_offset();
        let mut newest: Option<(Arc<Segment>, TimestampOffset)> = None;
        for segment in self.segments_from(log_start).iter() {
            let is_newer = |it: &TimestampOffset| {
                newest.as_ref().is_none_or(|(_, at)| at.timestamp < it.timestamp)
            };
            if let Some(it) = self.told(self.largest_from(segment, log_start))?.filter(is_newer) {
                newest = Some((Arc::clone(segment), it));
            }
        }
        let Some((segment, it)) = newest else { return Ok(None) };
        match self.told(segment.locate(it.offset))? {
            Some(located) => self.find_in_batch(&segment, &located, it.timestamp),
            None => Ok(None),
        }
    }

    /// The largest timestamp of a segment's records from `log_start` on. What the segment remembers counts only where its
    /// batch lies behind the start; else the batches behind are looked at.
    fn largest_from(
        &self,
        segment: &Segment,
        log_start: Offset,
    ) -> Result<Option<TimestampOffset>, LogError> {
        let largest = segment.times().largest;
        if segment.base_offset >= log_start {
            return Ok(largest);
        }
        let Some(first) = segment.locate(log_start)? else { return Ok(None) };
        if first.header.base_offset >= log_start && largest.is_none_or(|it| it.offset >= log_start)
        {
            return Ok(largest);
        }
        let mut cursor = segment.cursor(first.position, LOOKUP_WINDOW_BYTES)?;
        let mut newest: Option<TimestampOffset> = None;
        while let Some(located) = cursor.next()? {
            let header = &located.header;
            let timestamp = if header.base_offset < log_start {
                self.largest_within(&cursor.read(&located)?, log_start)
            } else {
                Some(header.max_timestamp)
            };
            if let Some(timestamp) = timestamp
                && newest.is_none_or(|it| it.timestamp < timestamp)
            {
                newest = Some(TimestampOffset { timestamp, offset: header.last_offset() });
            }
        }
        Ok(newest)
    }

    /// The largest timestamp of the records of a batch from `log_start` on; that of all, if it cannot be decoded.
    fn largest_within(&self, batch: &Batch, log_start: Offset) -> Option<TimestampMs> {
        let (header, mut largest) = (&batch.header, None);
        let note = |offset_delta, timestamp_delta| {
            if header.base_offset + i64::from(offset_delta) >= log_start {
                largest = largest.max(Some(timestamp_of(header, timestamp_delta)));
            }
            false
        };
        let walked = batch.find_record(self.settings.load().decompressed_max_bytes, note);
        if walked.is_ok() { largest } else { Some(header.max_timestamp) }
    }

    fn find_in(
        &self,
        segment: &Segment,
        target: TimestampMs,
    ) -> Result<Option<TimestampAndOffset>, LogError> {
        let position = position_before(segment, target)?;
        let mut cursor = segment.cursor(position, LOOKUP_WINDOW_BYTES)?;
        while let Some(located) = cursor.next()? {
            let is_kept = located.header.last_offset() >= self.log_start_offset();
            if is_kept
                && located.header.max_timestamp >= target
                && let Some(found) = self.find_in_batch(segment, &located, target)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The first record of a batch at or after `target` that was not deleted. A batch that cannot be decoded answers as a
    /// whole: its base offset, at which nothing is missed.
    fn find_in_batch(
        &self,
        segment: &Segment,
        located: &Located,
        target: TimestampMs,
    ) -> Result<Option<TimestampAndOffset>, LogError> {
        let header = &located.header;
        let answer = |timestamp, offset| TimestampAndOffset {
            timestamp,
            offset,
            leader_epoch: header.partition_leader_epoch,
        };
        let batch = segment.cursor(located.position, LOOKUP_WINDOW_BYTES)?.read(located)?;
        let max_bytes = self.settings.load().decompressed_max_bytes;
        let log_start = self.log_start_offset();
        let is_wanted = |offset_delta, timestamp_delta| {
            timestamp_of(header, timestamp_delta) >= target
                && header.base_offset + i64::from(offset_delta) >= log_start
        };
        match batch.find_record(max_bytes, is_wanted) {
            Ok(found) => Ok(found.map(|(offset_delta, timestamp_delta)| {
                let offset = header.base_offset + i64::from(offset_delta);
                answer(timestamp_of(header, timestamp_delta), offset)
            })),
            Err(_) => Ok(Some(answer(header.max_timestamp, header.base_offset.max(log_start)))),
        }
    }
}

/// Where to begin the search for a time: at the batch of a confirmed entry of the time index, or at the start.
fn position_before(segment: &Segment, target: TimestampMs) -> Result<u64, LogError> {
    let found = segment
        .time_index
        .lookup(target)
        .map_err(LogError::storage("read", &segment.time_index.entries.file().path()))?;
    let Some(entry) = found else { return Ok(0) };
    match segment.locate(entry.offset)? {
        Some(batch) if batch.holds(entry) => Ok(batch.position),
        Some(_) => {
            segment.doubt_index("time index");
            Ok(0)
        }
        // Perhaps of a batch that readers may not see yet.
        None => Ok(0),
    }
}

fn timestamp_of(header: &BatchHeader, timestamp_delta: i64) -> TimestampMs {
    match header.attributes.timestamp_type() {
        TimestampType::LogAppendTime => header.max_timestamp,
        TimestampType::CreateTime => {
            TimestampMs(header.base_timestamp.0.saturating_add(timestamp_delta))
        }
    }
}

/// Reads what lies there, less what turns out to be damaged.
fn read_span(span: &Span, from: Offset, ceiling: Offset) -> Result<Fetched, LogError> {
    let (segment, position) = (&span.segment, span.first.position);
    let available = usize::try_from(segment.size() - position).unwrap_or(usize::MAX);
    // With the header behind: it tells whether the last batch is what it says.
    let mut bytes = vec![0; span.bytes().saturating_add(HEADER_BYTES).min(available)];
    let path = segment.log.path();
    let read = segment.log.get().and_then(|it| it.read_exact_at(&mut bytes, position));
    read.map_err(LogError::storage("read", &path))?;
    let whole = whole_batches(&bytes, span.bytes(), &span.first.header, from, ceiling);
    let (whole, next_offset) =
        whole.ok_or(LogError::CorruptBatch { offset: from, segment: path })?;
    bytes.truncate(whole);
    Ok(Fetched { records: bytes.into(), next_offset })
}

/// How many bytes are whole batches below the ceiling, and the offset after them. A batch whose offsets its successor
/// belies is left out; `None` if that is the first one.
fn whole_batches(
    bytes: &[u8],
    limit: usize,
    first: &BatchHeader,
    from: Offset,
    ceiling: Offset,
) -> Option<(usize, Offset)> {
    let mut last = first.clone();
    let (mut before, mut expected) = (None, from);
    let (mut whole, mut next_offset) = (first.size_bytes(), first.last_offset() + 1);
    while let Some(next) = bytes.get(whole..).and_then(|it| BatchHeader::parse(it).ok()) {
        if next.base_offset < next_offset {
            return if belies(&next, &last, expected) {
                before
            } else {
                Some((whole, next_offset))
            };
        }
        let end = whole + next.size_bytes();
        let fits = is_possible(&next, next_offset) && end <= limit.min(bytes.len());
        if !fits || next.last_offset() >= ceiling {
            break;
        }
        (before, expected) = (Some((whole, next_offset)), next_offset);
        (whole, next_offset) = (end, next.last_offset() + 1);
        last = next;
    }
    Some((whole, next_offset))
}

/// A batch and its bytes, for callers that walk what they fetched.
impl Fetched {
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The batches, one by one.
    pub fn batches(&self) -> impl Iterator<Item = Batch> + use<> {
        let mut rest = self.records.clone();
        std::iter::from_fn(move || {
            let header = BatchHeader::parse(&rest).ok()?;
            (header.size_bytes() <= rest.len())
                .then(|| Batch { bytes: rest.split_to(header.size_bytes()), header })
        })
    }
}
