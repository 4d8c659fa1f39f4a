//! Records of a machine as batches for its log.

use bytes::Bytes;

use crate::{
    base::TimestampMs,
    wire::record_batch::{
        Batch, BatchBuilder, Compression, ControlType, RecordParts, own_control_batch,
    },
};

/// What a machine writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoredRecord {
    /// For whoever reads the topic; no value is a tombstone.
    Data { key: Bytes, value: Option<Bytes> },
    /// For the machine alone, in a control batch: consumers skip it.
    Control { kind: ControlType, subject: Bytes, value: Bytes },
}

/// More than any record's own framing needs: lengths, deltas, the count of headers.
const FRAMING_BYTES: usize = 64;

impl StoredRecord {
    fn size_bytes(&self) -> usize {
        let bytes = match self {
            Self::Data { key, value } => key.len() + value.as_ref().map_or(0, Bytes::len),
            Self::Control { subject, value, .. } => subject.len() + value.len(),
        };
        bytes + FRAMING_BYTES
    }

    fn is_data(&self) -> bool {
        matches!(self, Self::Data { .. })
    }
}

/// Batches of at most `max_bytes` each (a record larger than that goes alone, and the log refuses it). They are
/// appended together, all or none.
pub(crate) fn batches(records: &[StoredRecord], max_bytes: usize, now: TimestampMs) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut rest = records;
    while let Some(first) = rest.first() {
        if let StoredRecord::Control { kind, subject, value } = first {
            batches.push(own_control_batch(now, *kind, subject, value));
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let (batch, after) = rest.split_at(fitting(rest, max_bytes));
        batches.extend(one_batch(batch, now));
        rest = after;
    }
    batches
}

/// How many records of data fit; at least one.
fn fitting(records: &[StoredRecord], max_bytes: usize) -> usize {
    let mut left = max_bytes.saturating_sub(FRAMING_BYTES * 2);
    let fits = |record: &&StoredRecord| match left.checked_sub(record.size_bytes()) {
        Some(rest) => {
            left = rest;
            record.is_data()
        }
        None => false,
    };
    records.iter().take_while(fits).count().max(1)
}

fn one_batch(records: &[StoredRecord], now: TimestampMs) -> Option<Batch> {
    let mut builder = BatchBuilder::new(now, Compression::None);
    for (delta, record) in (0..).zip(records) {
        let StoredRecord::Data { key, value } = record else { continue };
        builder.push(&RecordParts {
            offset_delta: delta,
            timestamp_delta: 0,
            key: Some(key),
            value: value.as_deref(),
            headers: Vec::new(),
        });
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bytes: usize) -> StoredRecord {
        StoredRecord::Data { key: vec![b'k'; bytes].into(), value: None }
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

    #[test]
    fn what_is_for_the_machine_alone_goes_into_control_batches_in_its_place() {
        let (kind, value) = (ControlType::PendingAlert, Bytes::from_static(b"two of three"));
        let subject = Bytes::from_static(b"it");
        let control = StoredRecord::Control { kind, subject, value: value.clone() };
        let records = [record(1), record(2), control, record(3)];
        let batches = batches(&records, 10_000, TimestampMs(5));
        let controls: Vec<_> = batches.iter().map(Batch::control).collect();
        assert_eq!(controls, [None, Some((kind, value)), None]);
        assert_eq!(batches[1].control_record().unwrap().subject(), b"it");
        let counts: Vec<i32> = batches.iter().map(|it| it.header.records_count).collect();
        assert_eq!(counts, [2, 1, 1]);
        assert!(batches.iter().all(|it| it.validate().is_ok()));
    }
}
