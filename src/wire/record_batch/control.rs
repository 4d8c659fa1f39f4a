//! Control batches: one record whose key is `version: i16, type: i16`. Clients skip types that they do not know.

use bytes::Bytes;

use super::{Batch, BatchBuilder, BatchHeader, Compression, RecordParts, build::NO_TIMESTAMP};
use crate::base::TimestampMs;

/// What a control record means. The numbers are persisted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlType {
    /// Transaction markers (KIP-98).
    Abort,
    Commit,
    /// Klamm's own: stands where a transform left nothing of a batch, or where all records left for other partitions.
    Empty,
    /// Klamm's own: where the records of a batch went (design part 4, `route`).
    Route,
    /// Klamm's own: matches in `__klamm_alerts` that have not made an alert fire yet.
    PendingAlert,
}

impl ControlType {
    /// The number on disk.
    pub fn code(self) -> i16 {
        match self {
            Self::Abort => 0,
            Self::Commit => 1,
            // Far from Kafka's own (0 to 6 so far).
            Self::Empty => 0x4b00,
            Self::Route => 0x4b01,
            Self::PendingAlert => 0x4b02,
        }
    }

    /// `None` for a type that this version does not know.
    pub fn from_code(code: i16) -> Option<Self> {
        [Self::Abort, Self::Commit, Self::Empty, Self::Route, Self::PendingAlert]
            .into_iter()
            .find(|it| it.code() == code)
    }
}

/// Bytes of a control record's key: version and type.
const KEY_BYTES: usize = 4;

/// A control batch in the place of `original`: under its producer id, epoch and base sequence, with its
/// timestamps and last offset delta, and one record at that delta which holds `value`.
pub fn control_batch(original: &BatchHeader, kind: ControlType, value: &[u8]) -> Batch {
    let mut builder = BatchBuilder::rebuild(original, Compression::None).control();
    builder.push(&RecordParts {
        offset_delta: original.last_offset_delta,
        timestamp_delta: original.max_timestamp.0.saturating_sub(original.base_timestamp.0),
        key: Some(&key(kind, b"")),
        value: Some(value),
        headers: Vec::new(),
    });
    builder.build().expect("one record was pushed")
}

/// A control batch of nobody's, for one offset: it stands where records were lost.
pub fn placeholder() -> Batch {
    own_control_batch(NO_TIMESTAMP, ControlType::Empty, b"", b"")
}

/// A control batch of the broker's own, in no other's place. Compaction keeps the newest of a type and a `subject`.
pub fn own_control_batch(
    now: TimestampMs,
    kind: ControlType,
    subject: &[u8],
    value: &[u8],
) -> Batch {
    let mut builder = BatchBuilder::new(now, Compression::None).control();
    builder.push(&RecordParts {
        offset_delta: 0,
        timestamp_delta: 0,
        key: Some(&key(kind, subject)),
        value: Some(value),
        headers: Vec::new(),
    });
    builder.build().expect("one record was pushed")
}

/// Version 0 in the first two bytes, then the type. What follows is for whoever wrote it; Kafka's clients do not look.
fn key(kind: ControlType, subject: &[u8]) -> Vec<u8> {
    let [high, low] = kind.code().to_be_bytes();
    [&[0, 0, high, low], subject].concat()
}

/// The record of a control batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlRecord {
    pub kind: ControlType,
    /// All of it: what stands behind the type is the subject.
    pub key: Bytes,
    pub value: Bytes,
}

impl ControlRecord {
    /// What it speaks of; empty for types that have none, and in records of versions that did not tell.
    pub fn subject(&self) -> &[u8] {
        self.key.get(KEY_BYTES..).unwrap_or_default()
    }
}

impl Batch {
    /// The type and value of a control batch's record; `None` if it is no (readable) control batch.
    pub fn control(&self) -> Option<(ControlType, Bytes)> {
        self.control_record().map(|it| (it.kind, it.value))
    }

    /// The record of a control batch; `None` if it is no (readable) control batch.
    pub fn control_record(&self) -> Option<ControlRecord> {
        if !self.header.attributes.is_control() {
            return None;
        }
        // Nobody compresses a control batch: it may expand to what it is and no further.
        let batch = self.decode(self.bytes.len()).ok()?;
        let record = batch.record(0)?;
        let &[_, _, high, low] = record.key()?.first_chunk::<KEY_BYTES>()?;
        let kind = ControlType::from_code(i16::from_be_bytes([high, low]))?;
        let copy = |bytes: Option<&[u8]>| bytes.map_or(Bytes::new(), |it| batch.data.slice_ref(it));
        Some(ControlRecord { kind, key: copy(record.key()), value: copy(record.value()) })
    }
}
