//! Builds batches: filtered, rewritten, routed, or from nothing. Pure, off any lock.

use super::{
    Attributes, Batch, BatchError, BatchHeader, Codec, Compression, HEADER_BYTES, Header,
    RecordView, Records, compress,
    decode::check_contiguous,
    header::{CRC_FIELD, CRC_START, LENGTH_PREFIX_BYTES},
    varint::{put_varint, put_varlong, varlong_bytes},
};
use crate::base::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs};

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
    codec: Codec,
    /// Fixed by the caller; otherwise the last record's.
    last_offset_delta: Option<i32>,
    /// Fixed by the caller; otherwise the largest of the records'.
    max_timestamp: Option<TimestampMs>,
    records: Vec<u8>,
}

impl BatchBuilder {
    /// A batch of its own: base offset 0, leader epoch −1, no producer id until told.
    pub fn new(base_timestamp: TimestampMs, codec: impl Into<Codec>) -> Self {
        let header = BatchHeader {
            base_offset: Offset(0),
            batch_length: 0,
            partition_leader_epoch: LeaderEpoch(-1),
            crc: 0,
            attributes: Attributes::default(),
            last_offset_delta: 0,
            base_timestamp,
            max_timestamp: NO_TIMESTAMP,
            producer_id: None,
            producer_epoch: ProducerEpoch(-1),
            base_sequence: -1,
            records_count: 0,
        };
        let (codec, last_offset_delta, max_timestamp) = (codec.into(), None, None);
        Self { header, codec, last_offset_delta, max_timestamp, records: Vec::new() }
    }

    /// A batch in the place of another: keeps its producer id, epoch, base sequence, base timestamp,
    /// timestamp type and last offset delta, so that sequences stay contiguous.
    pub fn rebuild(original: &BatchHeader, codec: impl Into<Codec>) -> Self {
        let header =
            BatchHeader { records_count: 0, max_timestamp: NO_TIMESTAMP, ..original.clone() };
        let last_offset_delta = Some(original.last_offset_delta);
        let (codec, max_timestamp) = (codec.into(), None);
        Self { header, codec, last_offset_delta, max_timestamp, records: Vec::new() }
    }

    #[must_use]
    pub fn producer(self, id: ProducerId, epoch: ProducerEpoch, base_sequence: i32) -> Self {
        let header = BatchHeader {
            producer_id: Some(id),
            producer_epoch: epoch,
            base_sequence,
            ..self.header
        };
        Self { header, ..self }
    }

    /// Fixes the last offset delta; without it, it is that of the last record pushed.
    #[must_use]
    pub fn last_offset_delta(self, delta: i32) -> Self {
        Self { last_offset_delta: Some(delta), ..self }
    }

    /// Fixes the largest timestamp: that of a batch that the broker stamped is no record's.
    #[must_use]
    pub(super) fn max_timestamp(self, at: TimestampMs) -> Self {
        Self { max_timestamp: Some(at), ..self }
    }

    /// Says when the batch's tombstones may go (KIP-534). It is the base timestamp of all records pushed from here on.
    #[must_use]
    pub(super) fn delete_horizon(mut self, at: TimestampMs) -> Self {
        self.header.attributes = self.header.attributes.with_delete_horizon();
        self.header.base_timestamp = at;
        self
    }

    /// Makes it a control batch, which consumers skip.
    #[must_use]
    pub(super) fn control(mut self) -> Self {
        self.header.attributes = self.header.attributes.with_control();
        self
    }

    /// Bytes of the batch as it stands, uncompressed. A caller whose input is not bounded by a frame asks before the
    /// next push: a batch ends at `i32::MAX` bytes.
    pub fn size_bytes(&self) -> usize {
        HEADER_BYTES + self.records.len()
    }

    pub fn push(&mut self, record: &RecordParts<'_>) {
        put_record(&mut self.records, record);
        let header = &mut self.header;
        header.records_count += 1;
        header.last_offset_delta = record.offset_delta;
        let timestamp = header.base_timestamp.0.saturating_add(record.timestamp_delta);
        header.max_timestamp = header.max_timestamp.max(TimestampMs(timestamp));
    }

    /// The finished batch with its CRC, or `None` when no record was pushed (no client reads an empty batch).
    pub fn build(self) -> Option<Batch> {
        if self.header.records_count == 0 {
            return None;
        }
        let Self { mut header, codec, last_offset_delta, max_timestamp, records } = self;
        header.attributes = header.attributes.with_compression(codec.compression);
        header.last_offset_delta = last_offset_delta.unwrap_or(header.last_offset_delta);
        header.max_timestamp = max_timestamp.unwrap_or(header.max_timestamp);
        let section = match codec.compression {
            Compression::None => records,
            _ => compress(codec, &records),
        };
        Some(seal(header, &section))
    }
}

impl Records {
    /// The same records in a codec, under a header that tells their largest timestamp.
    ///
    /// # Errors
    ///
    /// [`BatchError::BadRecord`] of what no producer sends: its records are not numbered one after the other.
    pub fn compressed(&self, codec: Codec) -> Result<Batch, BatchError> {
        let header = BatchHeader {
            attributes: self.header.attributes.with_compression(codec.compression),
            max_timestamp: check_contiguous(&self.header, &self.data)?,
            ..self.header.clone()
        };
        Ok(match codec.compression {
            Compression::None => seal(header, &self.data),
            _ => seal(header, &compress(codec, &self.data)),
        })
    }
}

/// `RecordBatch.NO_TIMESTAMP`: below every timestamp of a record.
pub const NO_TIMESTAMP: TimestampMs = TimestampMs(-1);

/// Puts length and CRC into `header`, and the header before the records.
pub(super) fn seal(mut header: BatchHeader, section: &[u8]) -> Batch {
    let size = HEADER_BYTES + section.len();
    header.batch_length = i32::try_from(size - LENGTH_PREFIX_BYTES)
        .expect("a batch is under 2 GiB: callers bound it");
    let mut bytes = Vec::with_capacity(size);
    bytes.extend_from_slice(&header.encode());
    bytes.extend_from_slice(section);
    header.crc = bytes.get(CRC_START..).map_or(0, crc32c::crc32c);
    if let Some(field) = bytes.get_mut(CRC_FIELD) {
        field.copy_from_slice(&header.crc.to_be_bytes());
    }
    Batch { header, bytes: bytes.into() }
}

fn put_record(out: &mut Vec<u8>, record: &RecordParts<'_>) {
    put_varint(out, record_bytes(record) as i32);
    out.push(0);
    put_varlong(out, record.timestamp_delta);
    put_varint(out, record.offset_delta);
    put_nullable(out, record.key);
    put_nullable(out, record.value);
    put_varint(out, record.headers.len() as i32);
    for header in &record.headers {
        put_nullable(out, Some(header.name));
        put_nullable(out, header.value);
    }
}

/// Bytes of a record after its length.
fn record_bytes(record: &RecordParts<'_>) -> usize {
    let headers: usize = record
        .headers
        .iter()
        .map(|header| nullable_bytes(Some(header.name)) + nullable_bytes(header.value))
        .sum();
    1 + varlong_bytes(record.timestamp_delta)
        + varlong_bytes(record.offset_delta.into())
        + nullable_bytes(record.key)
        + nullable_bytes(record.value)
        + varlong_bytes(record.headers.len() as i64)
        + headers
}

fn put_nullable(out: &mut Vec<u8>, field: Option<&[u8]>) {
    put_varint(out, field.map_or(-1, |it| it.len() as i32));
    out.extend_from_slice(field.unwrap_or_default());
}

fn nullable_bytes(field: Option<&[u8]>) -> usize {
    field.map_or(1, |it| varlong_bytes(it.len() as i64) + it.len())
}
