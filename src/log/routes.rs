//! Route records of which parts may be missing elsewhere: which these are, and what they say.
//!
//! Rule: memory holds one bit of each producer; what a record says is read from the log when a retry asks. So retention
//! leaves such a record alone for as long as a client may still send its batch again.

use std::sync::Arc;

use super::{
    Log, LogError,
    cursor::LOOKUP_WINDOW_BYTES,
    producer_state::{ProducerStates, UnfinishedRoute},
    segment::Segment,
};
use crate::{
    base::{Offset, ProducerId, TimestampMs},
    wire::record_batch::Batch,
};

/// How long retention waits for a route to be finished. Clients give a batch up after two to five minutes by default;
/// whoever comes later and finds the record gone is refused, so nothing is acknowledged that is not stored.
const HELD_MS: u64 = 60 * 60 * 1_000;

impl Log {
    pub fn unfinished_route(&self, producer_id: ProducerId) -> Option<UnfinishedRoute> {
        self.writer.lock().producers.unfinished_route(producer_id)
    }

    /// Those of all producers; asked once after a start.
    pub fn unfinished_routes(&self) -> Vec<UnfinishedRoute> {
        self.writer.lock().producers.unfinished_routes().collect()
    }

    /// Notes that all parts of a route are stored. It is not persisted before the next snapshot: after a crash the targets
    /// are asked again.
    pub fn finish_route(&self, producer_id: ProducerId, base_offset: Offset) {
        self.writer.lock().producers.finish_route(producer_id, base_offset);
    }

    /// The route record at `base_offset`, read from the log.
    ///
    /// # Errors
    ///
    /// [`LogError::OffsetOutOfRange`] once retention has taken it, not when readers may see it no more; [`LogError::CorruptBatch`] if it is damaged.
    pub fn route_record(&self, base_offset: Offset) -> Result<Batch, LogError> {
        let segments = self.segments.load_full();
        let after = segments.partition_point(|it| it.base_offset <= base_offset);
        let Some(segment) = after.checked_sub(1).and_then(|at| segments.get(at)) else {
            return Err(self.out_of_range(base_offset));
        };
        let located = segment.locate(base_offset)?;
        let batch = located
            .map(|it| segment.cursor(it.position, LOOKUP_WINDOW_BYTES)?.read(&it))
            .transpose()?;
        batch
            .filter(|it| it.header.base_offset == base_offset && it.check_crc().is_ok())
            .ok_or_else(|| LogError::CorruptBatch { offset: base_offset, segment: self.path() })
    }
}

/// How many segments from the front hold no record that must be left alone.
pub(super) fn free_of_routes(
    segments: &[Arc<Segment>],
    producers: &ProducerStates,
    now: TimestampMs,
) -> usize {
    let held = producers.unfinished_routes().filter(|it| now.since(it.timestamp) < HELD_MS);
    match held.map(|it| it.base_offset).min() {
        None => segments.len(),
        Some(first) => segments.partition_point(|it| it.base_offset <= first).saturating_sub(1),
    }
}
