//! Builds batches: filtered, rewritten, routed, or from nothing. Pure, off any lock.

use bytes::Bytes;

use super::{BatchHeader, Compression, Header, RecordView};
use crate::base::{ProducerEpoch, ProducerId, TimestampMs};

/// What goes into a record. Borrowed: building copies once, into the batch.
#[derive(Clone, Debug)]
pub struct RecordParts<'a> {
    /// Offset less the batch's base offset.
    pub offset_delta: i32,
    /// Milliseconds after the batch's base timestamp; may be negative.
    pub timestamp_delta: i64,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    pub headers: Vec<Header<'a>>,
}

impl<'a> From<RecordView<'a>> for RecordParts<'a> {
    fn from(record: RecordView<'a>) -> Self {
        Self {
            offset_delta: record.offset_delta(),
            timestamp_delta: record.timestamp_delta(),
            key: record.key(),
            value: record.value(),
            headers: record.headers().collect(),
        }
    }
}

/// Writes records one after the other, then a header over them.
pub struct BatchBuilder {
    header: BatchHeader,
    compression: Compression,
    records: Vec<u8>,
}

impl BatchBuilder {
    /// A batch of its own: base offset 0, leader epoch −1, no producer id until told.
    pub fn new(base_timestamp: TimestampMs, compression: Compression) -> Self {
        let _ = (base_timestamp, compression);
        todo!()
    }

    /// A batch in the place of another: keeps its producer id, epoch, base sequence, base timestamp,
    /// timestamp type and last offset delta, so that sequences stay contiguous.
    pub fn rebuild(original: &BatchHeader, compression: Compression) -> Self {
        let _ = (original, compression);
        todo!()
    }

    #[must_use]
    pub fn producer(self, id: ProducerId, epoch: ProducerEpoch, base_sequence: i32) -> Self {
        let _ = (id, epoch, base_sequence);
        todo!()
    }

    /// Fixes the last offset delta; without it, it is that of the last record pushed.
    #[must_use]
    pub fn last_offset_delta(self, delta: i32) -> Self {
        let _ = delta;
        todo!()
    }

    pub fn push(&mut self, record: &RecordParts<'_>) {
        let _ = record;
        todo!()
    }

    /// The finished batch with its CRC, or `None` when no record was pushed (no client reads an empty batch).
    pub fn build(self) -> Option<super::Batch> {
        let _ = (&self.header, self.compression, Bytes::from(self.records));
        todo!()
    }
}
