//! The fixed 61 bytes at the start of a batch.
//!
//! | bytes | field                | type                        |
//! |------:|----------------------|-----------------------------|
//! |   0-7 | baseOffset           | i64, set by the leader      |
//! |  8-11 | batchLength          | i32, bytes after this field |
//! | 12-15 | partitionLeaderEpoch | i32, set by the leader      |
//! |    16 | magic                | 2                           |
//! | 17-20 | crc                  | u32, CRC-32C from byte 21   |
//! | 21-22 | attributes           | i16                         |
//! | 23-26 | lastOffsetDelta      | i32                         |
//! | 27-34 | baseTimestamp        | i64                         |
//! | 35-42 | maxTimestamp         | i64                         |
//! | 43-50 | producerId           | i64, −1 for none            |
//! | 51-52 | producerEpoch        | i16                         |
//! | 53-56 | baseSequence         | i32, −1 for none            |
//! | 57-60 | recordsCount         | i32                         |

use std::ops::Range;

use bytes::{Buf, BufMut};

use super::{BatchError, Compression};
use crate::base::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs};

/// Bytes of a batch before its records.
pub const HEADER_BYTES: usize = 61;

/// Bytes before and with `batchLength`, which that field does not count.
pub(crate) const LENGTH_PREFIX_BYTES: usize = 12;

/// Where the `crc` field lies.
pub(super) const CRC_FIELD: Range<usize> = 17..21;

/// Where the bytes begin that the CRC covers.
pub(super) const CRC_START: usize = 21;

/// Where `magic` lies; old message sets have theirs at the same place.
const MAGIC_AT: usize = 16;

/// Where a batch's timestamps come from (KIP-32).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampType {
    CreateTime,
    LogAppendTime,
}

/// Bits 0-2 compression, 3 timestamp type, 4 transactional, 5 control, 6 delete horizon (KIP-534).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes(pub i16);

impl Attributes {
    /// # Errors
    ///
    /// [`BatchError::UnknownCompression`] for bits that name no codec.
    pub fn compression(self) -> Result<Compression, BatchError> {
        Compression::from_bits(self.0 & 0b111)
    }

    #[must_use]
    pub fn with_compression(self, compression: Compression) -> Self {
        Self((self.0 & !0b111) | compression.bits())
    }

    pub fn timestamp_type(self) -> TimestampType {
        if self.0 & 0b1000 == 0 { TimestampType::CreateTime } else { TimestampType::LogAppendTime }
    }

    #[must_use]
    pub fn with_timestamp_type(self, kind: TimestampType) -> Self {
        match kind {
            TimestampType::CreateTime => Self(self.0 & !0b1000),
            TimestampType::LogAppendTime => Self(self.0 | 0b1000),
        }
    }

    pub fn is_transactional(self) -> bool {
        self.0 & 0b1_0000 != 0
    }

    /// Holds a control record: a transaction marker, or one of Klamm's own; consumers skip it.
    pub fn is_control(self) -> bool {
        self.0 & 0b10_0000 != 0
    }

    #[must_use]
    pub fn with_control(self) -> Self {
        Self(self.0 | 0b10_0000)
    }

    /// The base timestamp is no record's: from it on, the batch's tombstones may go.
    pub fn has_delete_horizon(self) -> bool {
        self.0 & DELETE_HORIZON != 0
    }

    #[must_use]
    pub fn with_delete_horizon(self) -> Self {
        Self(self.0 | DELETE_HORIZON)
    }

    #[must_use]
    pub fn without_delete_horizon(self) -> Self {
        Self(self.0 & !DELETE_HORIZON)
    }
}

const DELETE_HORIZON: i16 = 0b100_0000;

/// The decoded header of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    pub base_offset: Offset,
    /// Bytes after the field itself: the batch's size less 12.
    pub batch_length: i32,
    pub partition_leader_epoch: LeaderEpoch,
    /// CRC-32C of everything from the attributes on.
    pub crc: u32,
    pub attributes: Attributes,
    /// Last offset of the batch, less its base offset. It may be that of no record (a compacted or filtered batch).
    pub last_offset_delta: i32,
    pub base_timestamp: TimestampMs,
    pub max_timestamp: TimestampMs,
    /// `None` when the producer has no id.
    pub producer_id: Option<ProducerId>,
    pub producer_epoch: ProducerEpoch,
    /// Sequence number of the first record; −1 without a producer id.
    pub base_sequence: i32,
    pub records_count: i32,
}

impl BatchHeader {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`BatchError::Truncated`] under 61 bytes; [`BatchError::UnsupportedMagic`] for another format;
    /// [`BatchError::BadLength`] when the length field is under that of a header.
    pub fn parse(mut bytes: &[u8]) -> Result<Self, BatchError> {
        // First, because a message of an old format may be shorter than a header of this one.
        if let Some(&magic) = bytes.get(MAGIC_AT)
            && magic != 2
        {
            return Err(BatchError::UnsupportedMagic(magic as i8));
        }
        if bytes.len() < HEADER_BYTES {
            return Err(BatchError::Truncated { needed: HEADER_BYTES, available: bytes.len() });
        }
        let base_offset = Offset(bytes.get_i64());
        let batch_length = bytes.get_i32();
        let partition_leader_epoch = LeaderEpoch(bytes.get_i32());
        let _magic = bytes.get_i8();
        if batch_length < (HEADER_BYTES - LENGTH_PREFIX_BYTES) as i32 {
            return Err(BatchError::BadLength(batch_length));
        }
        Ok(Self {
            base_offset,
            batch_length,
            partition_leader_epoch,
            crc: bytes.get_u32(),
            attributes: Attributes(bytes.get_i16()),
            last_offset_delta: bytes.get_i32(),
            base_timestamp: TimestampMs(bytes.get_i64()),
            max_timestamp: TimestampMs(bytes.get_i64()),
            producer_id: Some(bytes.get_i64()).filter(|&id| id >= 0).map(ProducerId),
            producer_epoch: ProducerEpoch(bytes.get_i16()),
            base_sequence: bytes.get_i32(),
            records_count: bytes.get_i32(),
        })
    }

    /// The 61 bytes of this header, with the `crc` field as it stands.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut out = &mut bytes[..];
        out.put_i64(self.base_offset.0);
        out.put_i32(self.batch_length);
        out.put_i32(self.partition_leader_epoch.0);
        out.put_i8(2);
        out.put_u32(self.crc);
        out.put_i16(self.attributes.0);
        out.put_i32(self.last_offset_delta);
        out.put_i64(self.base_timestamp.0);
        out.put_i64(self.max_timestamp.0);
        out.put_i64(self.producer_id.map_or(-1, |id| id.0));
        out.put_i16(self.producer_epoch.0);
        out.put_i32(self.base_sequence);
        out.put_i32(self.records_count);
        bytes
    }

    /// Bytes of the whole batch.
    pub fn size_bytes(&self) -> usize {
        LENGTH_PREFIX_BYTES + usize::try_from(self.batch_length).unwrap_or(0)
    }

    pub fn last_offset(&self) -> Offset {
        self.base_offset + i64::from(self.last_offset_delta)
    }

    /// When tombstones of the batch may go, if the log cleaner has set it (KIP-534).
    pub fn delete_horizon(&self) -> Option<TimestampMs> {
        self.attributes.has_delete_horizon().then_some(self.base_timestamp)
    }

    /// Sequence number of the last record; it wraps from `i32::MAX` to 0.
    pub fn last_sequence(&self) -> i32 {
        if self.base_sequence < 0 {
            return -1;
        }
        self.base_sequence.wrapping_add(self.last_offset_delta) & i32::MAX
    }
}
