//! Leaves records out of a batch, as the log cleaner does. What stays keeps its offset, timestamp and headers, the batch its
//! offsets, codec, producer and sequence.
//!
//! Rule: a batch costs its bytes, decompressed, and one byte a record.

use bytes::Bytes;

use super::{
    Batch, BatchBuilder, BatchError, BatchHeader, Compression, Header, RecordParts, TimestampType,
    build::{NO_TIMESTAMP, seal},
    decode::{headers, walk},
};
use crate::{base::TimestampMs, wire::record_batch::RecordSpan};

/// A batch's records, decompressed.
#[derive(Debug)]
pub struct Records {
    pub(super) header: BatchHeader,
    pub(super) data: Bytes,
}

/// A record as a walk shows it.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'a> {
    data: &'a [u8],
    span: &'a RecordSpan,
    /// Its place in the batch.
    pub index: i32,
}

/// What is left of a batch.
#[derive(Debug)]
pub enum Compacted {
    /// All of it.
    Unchanged,
    Rebuilt(Batch),
    /// No record.
    Nothing,
}

impl Batch {
    /// Decompresses the records, to at most `max_bytes`.
    pub fn records(&self, max_bytes: usize) -> Result<Records, BatchError> {
        Ok(Records { header: self.header.clone(), data: self.decompress(max_bytes)? })
    }
}

impl BatchHeader {
    /// A batch without records in the place of this one: consumers come past its offsets, and what it says of its producer
    /// is not lost. As Kafka's, but for the timestamp: nothing in it has one.
    pub fn emptied(&self) -> Batch {
        let attributes = self.attributes.with_compression(Compression::None);
        let header = Self {
            attributes: attributes.without_delete_horizon(),
            base_timestamp: NO_TIMESTAMP,
            max_timestamp: NO_TIMESTAMP,
            records_count: 0,
            ..self.clone()
        };
        seal(header, &[])
    }
}

impl Records {
    /// Shows every record, in order.
    pub fn for_each(&self, mut visit: impl FnMut(&RecordRef<'_>)) -> Result<(), BatchError> {
        walk(&self.header, &self.data, |index, span| {
            visit(&RecordRef { data: &self.data, span: &span, index });
            Ok(())
        })
    }

    /// Leaves out what `keep` does not want. Where a tombstone stays for the first time, the batch is told from when on it may go:
    /// `horizon` (KIP-534).
    pub fn compact(
        &self,
        horizon: TimestampMs,
        mut keep: impl FnMut(&RecordRef<'_>) -> bool,
    ) -> Result<Compacted, BatchError> {
        let mut kept =
            Vec::with_capacity(self.data.len().min(self.header.records_count.max(0) as usize));
        let (mut has_tombstone, mut fits) = (false, true);
        self.for_each(|record| {
            let stays = keep(record);
            has_tombstone |= stays && record.value().is_none();
            fits &= self.timestamp(record).checked_sub(horizon.0).is_some();
            kept.push(stays);
        })?;
        let needs_horizon = has_tombstone && !self.header.attributes.has_delete_horizon();
        let horizon = Some(horizon).filter(|_| needs_horizon && fits);
        if horizon.is_none() && kept.iter().all(|it| *it) && !kept.is_empty() {
            return Ok(Compacted::Unchanged);
        }
        let rebuilt = self.rebuild(&kept, horizon)?;
        Ok(rebuilt.map_or(Compacted::Nothing, Compacted::Rebuilt))
    }

    fn rebuild(
        &self,
        kept: &[bool],
        horizon: Option<TimestampMs>,
    ) -> Result<Option<Batch>, BatchError> {
        let codec = self.header.attributes.compression()?;
        let mut builder = BatchBuilder::rebuild(&self.header, codec);
        if self.header.attributes.timestamp_type() == TimestampType::LogAppendTime {
            builder = builder.max_timestamp(self.header.max_timestamp);
        }
        if let Some(at) = horizon {
            builder = builder.delete_horizon(at);
        }
        let base = horizon.unwrap_or(self.header.base_timestamp);
        self.for_each(|record| {
            if kept.get(record.index as usize) == Some(&true) {
                builder.push(&record.parts(self.timestamp(record) - base.0));
            }
        })?;
        Ok(builder.build())
    }

    /// The walk has checked that it does not overflow.
    fn timestamp(&self, record: &RecordRef<'_>) -> i64 {
        self.header.base_timestamp.0.saturating_add(record.span.timestamp_delta)
    }
}

impl<'a> RecordRef<'a> {
    /// To the batch's base timestamp.
    pub fn timestamp_delta(&self) -> i64 {
        self.span.timestamp_delta
    }

    pub fn offset_delta(&self) -> i32 {
        self.span.offset_delta
    }

    pub fn key(&self) -> Option<&'a [u8]> {
        self.span.key.as_ref().map(|it| self.bytes(it))
    }

    /// `None` makes the record a tombstone.
    pub fn value(&self) -> Option<&'a [u8]> {
        self.span.value.as_ref().map(|it| self.bytes(it))
    }

    fn parts(&self, timestamp_delta: i64) -> RecordParts<'a> {
        let headers: Vec<Header<'a>> =
            headers(self.bytes(&self.span.headers), self.span.headers_count).collect();
        RecordParts {
            offset_delta: self.span.offset_delta,
            timestamp_delta,
            key: self.key(),
            value: self.value(),
            headers,
        }
    }

    fn bytes(&self, range: &std::ops::Range<u32>) -> &'a [u8] {
        self.data.get(range.start as usize..range.end as usize).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{LeaderEpoch, Offset, ProducerEpoch, ProducerId};

    const MAX_BYTES: usize = 1 << 20;
    const HORIZON: TimestampMs = TimestampMs(9_000_000);

    /// Key, value, and timestamp less 1,000.
    type Written<'a> = (&'a str, Option<&'a str>, i64);

    fn batch(codec: Compression, records: &[Written<'_>]) -> Batch {
        let builder = BatchBuilder::new(TimestampMs(1_000), codec);
        let mut builder = builder.producer(ProducerId(7), ProducerEpoch(2), 40);
        for (delta, (key, value, timestamp_delta)) in (0..).zip(records) {
            let headers = vec![Header { name: b"h", value: Some(key.as_bytes()) }];
            builder.push(&RecordParts {
                offset_delta: delta,
                timestamp_delta: *timestamp_delta,
                key: Some(key.as_bytes()),
                value: value.map(str::as_bytes),
                headers,
            });
        }
        let built = builder.build().unwrap();
        let header = BatchHeader {
            base_offset: Offset(100),
            partition_leader_epoch: LeaderEpoch(3),
            ..built.header.clone()
        };
        let bytes = [&header.encode()[..], &built.bytes[super::super::HEADER_BYTES..]].concat();
        Batch { header, bytes: bytes.into() }
    }

    fn compacted(batch: &Batch, keep: impl FnMut(&RecordRef<'_>) -> bool) -> Compacted {
        batch.records(MAX_BYTES).unwrap().compact(HORIZON, keep).unwrap()
    }

    #[track_caller]
    fn rebuilt(batch: &Batch, keep: impl FnMut(&RecordRef<'_>) -> bool) -> Batch {
        let Compacted::Rebuilt(rebuilt) = compacted(batch, keep) else { panic!("not rebuilt") };
        rebuilt.check_crc().unwrap();
        assert_eq!(BatchHeader::parse(&rebuilt.bytes).unwrap(), rebuilt.header);
        rebuilt
    }

    #[test]
    fn what_stays_keeps_its_place_in_every_codec() {
        for codec in Compression::ALL {
            let original =
                batch(codec, &[("a", Some("1"), 5), ("b", Some("2"), -7), ("c", Some("3"), 90)]);
            let left = rebuilt(&original, |it| it.key() == Some(b"b"));
            let decoded = left.decode(MAX_BYTES).unwrap();
            let records: Vec<_> = decoded.records().collect();
            assert_eq!(records.len(), 1);
            assert_eq!((records[0].offset_delta(), records[0].timestamp_delta()), (1, -7));
            assert_eq!((records[0].key(), records[0].value()), (Some(&b"b"[..]), Some(&b"2"[..])));
            assert_eq!(records[0].headers().count(), 1);
            let want = BatchHeader {
                crc: left.header.crc,
                batch_length: left.header.batch_length,
                records_count: 1,
                max_timestamp: TimestampMs(993),
                ..original.header
            };
            assert_eq!(left.header, want, "codec, offsets, epoch, producer and sequence");
        }
    }

    #[test]
    fn a_tombstone_that_stays_is_told_when_it_may_go_once() {
        let original = batch(Compression::None, &[("a", None, 5), ("b", Some("2"), 6)]);
        let first = rebuilt(&original, |_| true);
        assert_eq!(first.header.delete_horizon(), Some(HORIZON));
        assert_eq!(first.header.max_timestamp, TimestampMs(1_006));
        let decoded = first.decode(MAX_BYTES).unwrap();
        let timestamps: Vec<_> =
            decoded.records().map(|it| HORIZON.0 + it.timestamp_delta()).collect();
        assert_eq!(timestamps, [1_005, 1_006]);
        assert!(matches!(compacted(&first, |_| true), Compacted::Unchanged));
        // What is left of a batch keeps it.
        assert_eq!(
            rebuilt(&first, |it| it.value().is_some()).header.delete_horizon(),
            Some(HORIZON)
        );
        let values = batch(Compression::None, &[("a", Some("1"), 5), ("b", None, 5)]);
        let rest = rebuilt(&values, |it| it.value().is_some());
        assert_eq!(rest.header.delete_horizon(), None, "no tombstone is left");
    }

    #[test]
    fn time_as_the_broker_stamped_it_stays() {
        let mut original = batch(Compression::None, &[("a", Some("1"), 5), ("b", Some("2"), 6)]);
        let attributes = original.header.attributes;
        original.header.attributes = attributes.with_timestamp_type(TimestampType::LogAppendTime);
        original.header.max_timestamp = TimestampMs(77_777);
        let left = rebuilt(&original, |it| it.index == 0);
        assert_eq!(left.header.max_timestamp, TimestampMs(77_777));
    }

    #[test]
    fn an_emptied_batch_keeps_its_offsets_and_its_producer() {
        let original = batch(Compression::Zstd, &[("a", None, 5), ("b", Some("2"), 6)]);
        assert!(matches!(compacted(&original, |_| false), Compacted::Nothing));
        let empty = original.header.emptied();
        empty.check_crc().unwrap();
        assert_eq!(empty.bytes.len(), super::super::HEADER_BYTES);
        assert_eq!(empty.decode(MAX_BYTES).unwrap().len(), 0);
        assert_eq!(empty.header.last_offset(), Offset(101));
        assert_eq!(empty.header.producer_id, Some(ProducerId(7)));
        assert_eq!((empty.header.base_sequence, empty.header.last_sequence()), (40, 41));
    }

    #[test]
    fn a_timestamp_too_far_from_the_horizon_for_64_bits_waits_for_ever() {
        let original = batch(Compression::None, &[("a", None, i64::MIN)]);
        assert!(matches!(compacted(&original, |_| true), Compacted::Unchanged));
    }
}
