//! Reading a log: batches from an offset, and offsets by time. No lock is held while a file is read.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    Log, LogError,
    cursor::{LOOKUP_WINDOW_BYTES, Located, is_possible},
    segment::Segment,
};
use crate::{
    base::{LeaderEpoch, Offset, TimestampMs},
    wire::record_batch::{
        Batch, BatchHeader, DecodedBatch, HEADER_BYTES, RecordView, TimestampType,
    },
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
        let (log_start, log_end) = (self.log_start_offset(), self.log_end_offset());
        if from < log_start || from > log_end {
            return Err(LogError::OffsetOutOfRange { asked: from, log_start, log_end });
        }
        let nothing = Fetched { records: Bytes::new(), next_offset: from };
        let ceiling = ceiling.min(log_end);
        if from >= ceiling {
            return Ok(nothing);
        }
        for segment in self.segments_from(from) {
            if let Some(first) = segment.locate(from)? {
                return read_from(&segment, &first, ceiling, max_bytes, at_least_one)
                    .map(|it| it.unwrap_or(nothing));
            }
        }
        Ok(nothing)
    }

    /// The lowest offset whose timestamp is at or after `target`, below `ceiling` (KIP-79).
    ///
    /// Costs a search in a time index, a scan of about `index.interval.bytes`, and the decoding of one batch.
    pub fn offset_for_timestamp(
        &self,
        target: TimestampMs,
        ceiling: Offset,
    ) -> Result<Option<TimestampAndOffset>, LogError> {
        for segment in self.segments.load().iter() {
            if segment.times().largest.is_none_or(|it| it.timestamp < target) {
                continue;
            }
            if let Some(found) = self.find_in(segment, target)? {
                return Ok(Some(found).filter(|it| it.offset < ceiling));
            }
        }
        Ok(None)
    }

    /// The record with the largest timestamp (KIP-734).
    pub fn max_timestamp(&self) -> Result<Option<TimestampAndOffset>, LogError> {
        let segments = self.segments.load_full();
        let mut newest: Option<(&Arc<Segment>, TimestampMs, Offset)> = None;
        for segment in segments.iter() {
            if let Some(it) = segment.times().largest
                && newest.is_none_or(|(_, timestamp, _)| timestamp < it.timestamp)
            {
                newest = Some((segment, it.timestamp, it.offset));
            }
        }
        let Some((segment, timestamp, offset)) = newest else { return Ok(None) };
        match segment.locate(offset)? {
            Some(located) => self.find_in_batch(segment, &located, timestamp),
            None => Ok(None),
        }
    }

    /// The segment that may hold `offset`, and those after it.
    fn segments_from(&self, offset: Offset) -> Vec<Arc<Segment>> {
        let segments = self.segments.load();
        let after = segments.partition_point(|it| it.base_offset <= offset);
        segments.get(after.saturating_sub(1)..).unwrap_or_default().to_vec()
    }

    fn find_in(
        &self,
        segment: &Segment,
        target: TimestampMs,
    ) -> Result<Option<TimestampAndOffset>, LogError> {
        let older_until = segment
            .time_index
            .lookup(target)
            .map_err(LogError::storage("read", &segment.time_index.entries.file().path()))?;
        let Some(first) = segment.locate(older_until.unwrap_or(segment.base_offset))? else {
            return Ok(None);
        };
        let mut cursor = segment.cursor(first.position, LOOKUP_WINDOW_BYTES)?;
        while let Some(located) = cursor.next()? {
            if located.header.max_timestamp >= target
                && let Some(found) = self.find_in_batch(segment, &located, target)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The first record of a batch at or after `target`. A batch that cannot be decoded answers as a whole: its base
    /// offset, at which nothing is missed.
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
        let Ok(decoded) = batch.decode(self.settings.load().decompressed_max_bytes) else {
            return Ok(Some(answer(header.max_timestamp, header.base_offset)));
        };
        let mut records = decoded.records();
        let found = records.find(|it| timestamp_of(&decoded, *it) >= target);
        Ok(found.map(|it| {
            let offset = header.base_offset + i64::from(it.offset_delta());
            answer(timestamp_of(&decoded, it), offset)
        }))
    }
}

fn timestamp_of(batch: &DecodedBatch, record: RecordView<'_>) -> TimestampMs {
    match batch.header.attributes.timestamp_type() {
        TimestampType::LogAppendTime => batch.header.max_timestamp,
        TimestampType::CreateTime => {
            TimestampMs(batch.header.base_timestamp.0.saturating_add(record.timestamp_delta()))
        }
    }
}

/// Reads from a batch on; `None` if not even that one may be returned.
fn read_from(
    segment: &Segment,
    first: &Located,
    ceiling: Offset,
    max_bytes: usize,
    at_least_one: bool,
) -> Result<Option<Fetched>, LogError> {
    let first_bytes = first.header.size_bytes();
    if first.header.last_offset() >= ceiling || (first_bytes > max_bytes && !at_least_one) {
        return Ok(None);
    }
    let available = usize::try_from(segment.size() - first.position).unwrap_or(usize::MAX);
    let mut bytes = vec![0; first_bytes.max(max_bytes).min(available)];
    let path = segment.log.path();
    let read = segment.log.get().and_then(|it| it.read_exact_at(&mut bytes, first.position));
    read.map_err(LogError::storage("read", &path))?;
    let (whole, next_offset) = whole_batches(&bytes, &first.header, ceiling);
    bytes.truncate(whole);
    Ok(Some(Fetched { records: bytes.into(), next_offset }))
}

/// How many bytes are whole batches below the ceiling, and the offset after them.
fn whole_batches(bytes: &[u8], first: &BatchHeader, ceiling: Offset) -> (usize, Offset) {
    let (mut whole, mut next_offset) = (first.size_bytes(), first.last_offset() + 1);
    while let Some(rest) = bytes.get(whole..)
        && rest.len() >= HEADER_BYTES
    {
        let Ok(header) = BatchHeader::parse(rest) else { break };
        let fits = is_possible(&header, next_offset) && header.size_bytes() <= rest.len();
        if !fits || header.last_offset() >= ceiling {
            break;
        }
        whole += header.size_bytes();
        next_offset = header.last_offset() + 1;
    }
    (whole, next_offset)
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
