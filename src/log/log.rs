//! A partition's log: segments in order, appended at the end, read anywhere, deleted from the front.

use std::path::PathBuf;

use bytes::Bytes;

use super::{LogError, LogSettings, ProducerCheck, StoredRoute};
use crate::{
    base::{LeaderEpoch, Offset, ProducerId, TimestampMs},
    wire::record_batch::{Batch, BatchHeader, TimestampType},
};

/// What an append is done under.
#[derive(Clone, Copy, Debug)]
pub struct AppendContext {
    pub leader_epoch: LeaderEpoch,
    pub now: TimestampMs,
    /// `LogAppendTime` stamps the batch with `now`; its CRC is then computed anew.
    pub timestamp_type: TimestampType,
}

/// Where batches were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    pub base_offset: Offset,
    /// Of the last batch, inclusive.
    pub last_offset: Offset,
    /// `None` for `CreateTime`.
    pub log_append_time: Option<TimestampMs>,
    pub log_start_offset: Offset,
    /// The producer had sent it before, and the offsets are those of the stored copy: nothing was written.
    pub duplicate: bool,
}

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

/// One partition's log. Shared: an append holds its lock for as long as it writes, reads take none of it for I/O.
#[derive(Debug)]
pub struct Log {
    dir: PathBuf,
}

impl Log {
    /// Opens the log in `dir` (made if absent, its parent synced), recovering it if it was not closed cleanly.
    pub fn open(dir: PathBuf, settings: LogSettings, now: TimestampMs) -> Result<Self, LogError> {
        let _ = (settings, now);
        Ok(Self { dir })
    }

    /// Appends batches that were validated, giving them offsets and the leader's epoch in place; all or
    /// none of them. Checks the producer's epoch and sequence; a duplicate (when it is the only batch) writes nothing.
    pub fn append(
        &self,
        batches: Vec<Batch>,
        context: AppendContext,
    ) -> Result<Appended, LogError> {
        let _ = (batches, context, &self.dir);
        todo!()
    }

    /// What an append of this batch would say of its producer.
    pub fn check_producer(&self, header: &BatchHeader) -> Result<ProducerCheck, LogError> {
        let _ = header;
        todo!()
    }

    /// The routed batches among the newest five of a producer, oldest first.
    pub fn routes(&self, producer_id: ProducerId) -> Vec<StoredRoute> {
        let _ = producer_id;
        todo!()
    }

    /// All producers with routed batches; asked once after a start.
    pub fn producers_with_routes(&self) -> Vec<ProducerId> {
        todo!()
    }

    /// Reads whole batches from the one that holds `from`, up to but excluding `ceiling`, about `max_bytes`
    /// of them; the first one is returned whole however large if `at_least_one` (KIP-74).
    pub fn read(
        &self,
        from: Offset,
        ceiling: Offset,
        max_bytes: usize,
        at_least_one: bool,
    ) -> Result<Fetched, LogError> {
        let _ = (from, ceiling, max_bytes, at_least_one);
        todo!()
    }

    /// The lowest offset whose timestamp is at or after `target`, below `ceiling` (KIP-79).
    pub fn offset_for_timestamp(
        &self,
        target: TimestampMs,
        ceiling: Offset,
    ) -> Result<Option<TimestampAndOffset>, LogError> {
        let _ = (target, ceiling);
        todo!()
    }

    /// The record with the largest timestamp (KIP-734).
    pub fn max_timestamp(&self) -> Result<Option<TimestampAndOffset>, LogError> {
        todo!()
    }

    /// The last epoch at or below `epoch`, and the offset after its last record (KIP-101); `None` for none.
    pub fn end_offset_for_epoch(&self, epoch: LeaderEpoch) -> Option<(LeaderEpoch, Offset)> {
        let _ = epoch;
        todo!()
    }

    pub fn latest_epoch(&self) -> Option<LeaderEpoch> {
        todo!()
    }

    pub fn log_start_offset(&self) -> Offset {
        todo!()
    }

    /// The offset that the next record gets.
    pub fn log_end_offset(&self) -> Offset {
        todo!()
    }

    /// Bytes of all segments.
    pub fn size_bytes(&self) -> u64 {
        todo!()
    }

    pub fn set_settings(&self, settings: LogSettings) {
        let _ = settings;
        todo!()
    }

    /// Deletes segments that retention by time or size no longer keeps, and rolls one that is too old; returns how many.
    pub fn retain(&self, now: TimestampMs) -> Result<usize, LogError> {
        let _ = now;
        todo!()
    }

    /// fsyncs everything, and writes the producer snapshot at the end.
    pub fn close(&self) -> Result<(), LogError> {
        todo!()
    }

    /// Renames the folder out of the way (`….-delete`) and removes it.
    pub fn delete(&self) -> Result<(), LogError> {
        todo!()
    }
}
