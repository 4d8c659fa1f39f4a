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
        key: Some(&key(kind)),
        value: Some(value),
        headers: Vec::new(),
    });
    builder.build().expect("one record was pushed")
}

/// A control batch of nobody's, for one offset: it stands where records were lost.
pub fn placeholder() -> Batch {
    own_control_batch(NO_TIMESTAMP, ControlType::Empty, b"")
}

/// A control batch of the broker's own, in no other's place.
pub fn own_control_batch(now: TimestampMs, kind: ControlType, value: &[u8]) -> Batch {
    let mut builder = BatchBuilder::new(now, Compression::None).control();
    builder.push(&RecordParts {
        offset_delta: 0,
        timestamp_delta: 0,
        key: Some(&key(kind)),
        value: Some(value),
        headers: Vec::new(),
    });
    builder.build().expect("one record was pushed")
}

/// Version 0 in the first two bytes.
fn key(kind: ControlType) -> [u8; KEY_BYTES] {
    let [high, low] = kind.code().to_be_bytes();
    [0, 0, high, low]
}

impl Batch {
    /// The type and value of a control batch's record; `None` if it is no (readable) control batch.
    pub fn control(&self) -> Option<(ControlType, Bytes)> {
        if !self.header.attributes.is_control() {
            return None;
        }
        // Nobody compresses a control batch: it may expand to what it is and no further.
        let batch = self.decode(self.bytes.len()).ok()?;
        let record = batch.record(0)?;
        let &[_, _, high, low] = record.key()?.first_chunk::<KEY_BYTES>()?;
        let kind = ControlType::from_code(i16::from_be_bytes([high, low]))?;
        let value = record.value().map_or(Bytes::new(), |value| batch.data.slice_ref(value));
        Some((kind, value))
    }
}
