//! Believing a segment without reading it whole: after a clean stop, or because it lies before the recovery point.
//!
//! Rule: that costs a few small reads, however large the segment is. What lies between is confirmed when it is used.

use super::{
    LogError, cursor::LOOKUP_WINDOW_BYTES, offset_index::OffsetPosition, segment::Segment,
    time_index::TimestampOffset,
};
use crate::base::{Offset, TimestampMs};

/// What follows the last indexed batch of a segment, that one included.
struct Tail {
    /// The offset after the last record.
    end: Offset,
    largest: Option<TimestampMs>,
}

/// Takes a segment over as its files say; returns the offset after its last record. `None` if they do not fit together.
pub(super) fn adopt(segment: &Segment) -> Result<Option<Offset>, LogError> {
    let path = segment.log.path();
    let size =
        segment.log.get().and_then(|it| it.len()).map_err(LogError::storage("open", &path))?;
    segment.set_size(size);
    let plausible = adopt_indexes(segment).map_err(LogError::storage("read", &path))?;
    let end = if plausible { confirmed_end(segment)? } else { None };
    if end.is_none() {
        tracing::warn!(
            segment = %path.display(),
            "the files of a segment do not fit together: checking it and building its indexes anew"
        );
    }
    Ok(end)
}

fn adopt_indexes(segment: &Segment) -> std::io::Result<bool> {
    let whole = segment.offset_index.entries.load()? && segment.time_index.entries.load()?;
    let largest = segment.time_index.last()?;
    segment.set_largest(largest);
    let size = segment.size();
    let fits = segment.offset_index.is_plausible(size)? && segment.time_index.is_plausible()?;
    Ok(whole && fits && (largest.is_none() || size > 0))
}

/// The segment's end, if the last entry of each index speaks of a batch that is there, and what follows ends with the file.
fn confirmed_end(segment: &Segment) -> Result<Option<Offset>, LogError> {
    match confirm_end(segment) {
        Err(LogError::CorruptBatch { .. }) => Ok(None),
        other => other,
    }
}

fn confirm_end(segment: &Segment) -> Result<Option<Offset>, LogError> {
    let Some(largest) = segment.times().largest else { return untimed_end(segment) };
    let last = last_indexed(segment)?;
    if let Some(last) = last
        && !segment.confirms(last)?
    {
        return Ok(None);
    }
    let tail = tail(segment, last)?;
    let is_older = tail.largest.is_none_or(|it| it <= largest.timestamp);
    Ok((is_older && segment.confirms_time(largest)?).then_some(tail.end))
}

/// The end of a segment without a time, if none of its records has one: of others a sealed or closed segment has an entry in its
/// time index. All its headers are read, the first of which mostly tells.
fn untimed_end(segment: &Segment) -> Result<Option<Offset>, LogError> {
    let mut cursor = segment.cursor(0, LOOKUP_WINDOW_BYTES)?;
    let (mut end, mut first) = (segment.base_offset, None);
    while let Some(located) = cursor.next()? {
        let (timestamp, offset) = (located.header.max_timestamp, located.header.last_offset());
        if timestamp.0 >= 0 {
            return Ok(None);
        }
        end = offset + 1;
        first.get_or_insert(TimestampOffset { timestamp, offset });
    }
    segment.set_largest(first);
    Ok(Some(end))
}

fn last_indexed(segment: &Segment) -> Result<Option<OffsetPosition>, LogError> {
    let path = segment.offset_index.entries.file().path();
    segment.offset_index.last().map_err(LogError::storage("read", &path))
}

fn tail(segment: &Segment, last: Option<OffsetPosition>) -> Result<Tail, LogError> {
    let mut cursor = segment.cursor(last.map_or(0, |it| it.position), LOOKUP_WINDOW_BYTES)?;
    let mut tail = Tail { end: segment.base_offset, largest: None };
    while let Some(located) = cursor.next()? {
        tail.end = located.header.last_offset() + 1;
        tail.largest = tail.largest.max(Some(located.header.max_timestamp));
    }
    Ok(tail)
}
