//! Records of a machine as batches for its log.

use bytes::Bytes;

use crate::{
    base::TimestampMs,
    wire::record_batch::{Batch, BatchBuilder, Compression, RecordParts},
};

/// Key and value as stored; no value is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredRecord {
    pub(crate) key: Bytes,
    pub(crate) value: Option<Bytes>,
}

/// More than any record's own framing needs: lengths, deltas, the count of headers.
const FRAMING_BYTES: usize = 64;

impl StoredRecord {
    fn size_bytes(&self) -> usize {
        self.key.len() + self.value.as_ref().map_or(0, Bytes::len) + FRAMING_BYTES
    }
}

/// Batches of at most `max_bytes` each (a record larger than that goes alone, and the log refuses it). They are
/// appended together, all or none.
pub(crate) fn batches(records: &[StoredRecord], max_bytes: usize, now: TimestampMs) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut rest = records;
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(fitting(rest, max_bytes));
        batches.extend(one_batch(batch, now));
        rest = after;
    }
    batches
}

/// How many records fit; at least one.
fn fitting(records: &[StoredRecord], max_bytes: usize) -> usize {
    let mut left = max_bytes.saturating_sub(FRAMING_BYTES * 2);
    let fits = |record: &&StoredRecord| match left.checked_sub(record.size_bytes()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    records.iter().take_while(fits).count().max(1)
}

fn one_batch(records: &[StoredRecord], now: TimestampMs) -> Option<Batch> {
    let mut builder = BatchBuilder::new(now, Compression::None);
    for (delta, record) in (0..).zip(records) {
        builder.push(&RecordParts {
            offset_delta: delta,
            timestamp_delta: 0,
            key: Some(&record.key),
            value: record.value.as_deref(),
            headers: Vec::new(),
        });
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bytes: usize) -> StoredRecord {
        StoredRecord { key: vec![b'k'; bytes].into(), value: None }
    }

    #[test]
    fn batches_stay_below_the_limit_and_lose_nothing() {
        let records: Vec<_> = [100, 300, 50, 900, 10].map(record).into();
        let batches = batches(&records, 600, TimestampMs(5));
        let counts: Vec<i32> = batches.iter().map(|it| it.header.records_count).collect();
        assert_eq!(counts.iter().sum::<i32>(), 5);
        for batch in &batches {
            batch.validate().unwrap();
            assert!(batch.header.records_count == 1 || batch.bytes.len() <= 600);
        }
    }

    #[test]
    fn tombstones_have_no_value() {
        let batches = batches(&[record(3)], 600, TimestampMs(5));
        let decoded = batches[0].decode(1_000).unwrap();
        let view = decoded.record(0).unwrap();
        assert_eq!((view.key(), view.value()), (Some(&b"kkk"[..]), None));
    }
}
