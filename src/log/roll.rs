//! When a log begins a new segment, and how.
//!
//! Rule: what a segment's files cannot express is never written to it: positions and offsets within it have 31 bits.

use std::sync::Arc;

use super::{
    Log, LogError, LogSettings, file_name,
    log::{State, Writer},
    producer_snapshot,
    segment::Segment,
    stamp::Stamped,
};
use crate::base::TimestampMs;

impl Log {
    /// Where these batches go: the active segment, or a new one.
    pub(super) fn segment_for(
        &self,
        writer: &mut Writer,
        stamped: &[Stamped],
        now: TimestampMs,
    ) -> Result<Arc<Segment>, LogError> {
        let settings = self.settings.load();
        let size: usize = stamped.iter().map(|it| it.header.size_bytes()).sum();
        let max = segment_bytes_max(&settings);
        if size > max || !spans_31_bits(stamped) {
            return Err(LogError::RecordListTooLarge { size, max });
        }
        let active = self.active();
        if must_roll(&active, stamped, size, &settings, now) {
            self.roll(writer, now)
        } else {
            Ok(active)
        }
    }

    /// Begins a new segment at the log's end, sealing the active one.
    pub(super) fn roll(
        &self,
        writer: &mut Writer,
        now: TimestampMs,
    ) -> Result<Arc<Segment>, LogError> {
        self.active().seal()?;
        self.write_snapshot(writer, false)?;
        let segment =
            Arc::new(Segment::new(&self.home().disk, &self.path(), self.log_end_offset(), now));
        // One that is not the log's would hide, at the next start, what the active one holds from there on.
        segment.create(self.settings.load().preallocated_bytes()).inspect_err(|_| {
            if !segment.remove(self.home().disk.as_ref()) {
                writer.state = State::Offline;
            }
        })?;
        let mut segments = self.segments.load().as_ref().clone();
        segments.push(Arc::clone(&segment));
        self.segments.store(Arc::new(segments));
        Ok(segment)
    }

    /// Writes the producers' state as of the log's end.
    pub(super) fn write_snapshot(&self, writer: &Writer, durable: bool) -> Result<(), LogError> {
        let path = self.path().join(file_name::of(self.log_end_offset(), file_name::SNAPSHOT));
        self.home()
            .disk
            .replace(&path, &writer.snapshot(), durable)
            .map_err(LogError::storage("write", &path))
    }
}

impl Writer {
    /// The producers' state as of the log's end, as it is written to a file.
    pub(super) fn snapshot(&self) -> Vec<u8> {
        producer_snapshot::encode(&self.producers)
    }
}

/// Whether the offsets of these batches fit one segment.
fn spans_31_bits(stamped: &[Stamped]) -> bool {
    let (first, last) = (stamped.first(), stamped.last());
    first.zip(last).is_none_or(|(first, last)| {
        i32::try_from(last.header.last_offset() - first.header.base_offset).is_ok()
    })
}

/// Positions in a segment are 31 bits wide.
fn segment_bytes_max(settings: &LogSettings) -> usize {
    settings.segment_bytes.min(i32::MAX as u32) as usize
}

/// As Kafka's `LogSegment.shouldRoll`.
fn must_roll(
    active: &Segment,
    stamped: &[Stamped],
    size: usize,
    settings: &LogSettings,
    now: TimestampMs,
) -> bool {
    let times = active.times();
    let newest = stamped.iter().map(|it| it.header.max_timestamp).max().unwrap_or(now);
    let age_ms = match times.first {
        Some(first) => newest.since(first),
        None => now.since(times.created),
    };
    let is_old = age_ms > age_max_ms(active, settings);
    let is_full = active.size() + size as u64 > segment_bytes_max(settings) as u64
        || active.offset_index.is_full(settings.segment_index_bytes)
        || active.time_index.is_full(settings.segment_index_bytes);
    let is_far = stamped.last().is_some_and(|it| !active.reaches(it.header.last_offset()));
    active.size() > 0 && (is_far || is_old || is_full)
}

/// How old the active segment may become: `segment.ms` less what it has drawn of `segment.jitter.ms`.
pub(super) fn age_max_ms(active: &Segment, settings: &LogSettings) -> u64 {
    let most = settings.segment_jitter_ms.min(settings.segment_ms);
    let jitter = i64::from(active.drawn).checked_rem(most).unwrap_or(0);
    u64::try_from(settings.segment_ms - jitter).unwrap_or(u64::MAX)
}
