//! How far records' timestamps may be from the broker's clock: `message.timestamp.before.max.ms` and
//! `message.timestamp.after.max.ms` (KIP-937). Pure.
//!
//! Rule: a compressed batch is not looked into; of it counts what the header tells.

use super::{ProduceError, RefusedRecord};
use crate::{
    base::TimestampMs,
    config::TopicConfig,
    wire::record_batch::{Batch, Compression, TimestampType},
};

/// Records that an answer names at most; a batch may have many more.
const NAMED_MAX: usize = 1_000;

/// Refuses a batch with a record that is too old or too new.
pub(crate) fn check_timestamps(
    batch: &Batch,
    config: &TopicConfig,
    now: TimestampMs,
) -> Result<(), ProduceError> {
    if config.timestamp_type == TimestampType::LogAppendTime {
        return Ok(());
    }
    let is_far = |at| is_too_old(at, config, now) || is_too_new(at, config, now);
    let header = &batch.header;
    let told = [header.base_timestamp.0, header.max_timestamp.0].into_iter().find(|&it| is_far(it));
    let has_floor = config.timestamp_before_max_ms != i64::MAX;
    if (told.is_none() && !has_floor) || header.attributes.compression()? != Compression::None {
        return told.map_or(Ok(()), |timestamp| refuse(timestamp, Vec::new()));
    }
    let records = far_records(batch, is_far)?;
    match records.first().map(|it| it.1).or(told) {
        Some(timestamp) => refuse(timestamp, records.iter().map(named).collect()),
        None => Ok(()),
    }
}

/// −1 stands for no timestamp.
fn is_too_old(at: i64, config: &TopicConfig, now: TimestampMs) -> bool {
    at >= 0 && now.0.saturating_sub(at) > config.timestamp_before_max_ms
}

fn is_too_new(at: i64, config: &TopicConfig, now: TimestampMs) -> bool {
    at.saturating_sub(now.0) > config.timestamp_after_max_ms
}

/// Index and timestamp of the records of an uncompressed batch that are too far.
fn far_records(
    batch: &Batch,
    is_far: impl Fn(i64) -> bool,
) -> Result<Vec<(i32, i64)>, ProduceError> {
    let mut found = Vec::new();
    batch.find_record(batch.bytes.len(), |index, delta| {
        let timestamp = batch.header.base_timestamp.0.saturating_add(delta);
        if is_far(timestamp) && found.len() < NAMED_MAX {
            found.push((index, timestamp));
        }
        false
    })?;
    Ok(found)
}

fn named(&(index, timestamp): &(i32, i64)) -> RefusedRecord {
    RefusedRecord { index, reason: format!("Timestamp {timestamp} is out of range.") }
}

fn refuse(timestamp: i64, records: Vec<RefusedRecord>) -> Result<(), ProduceError> {
    Err(ProduceError::InvalidTimestamp { timestamp, records })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Config, TopicConfigs},
        wire::record_batch::{BatchBuilder, RecordParts},
    };

    const NOW: i64 = 1_000_000_000;

    fn batch(codec: Compression, timestamps: &[i64]) -> Batch {
        let mut builder = BatchBuilder::new(TimestampMs(timestamps[0]), codec);
        for (offset_delta, at) in (0..).zip(timestamps) {
            builder.push(&RecordParts {
                offset_delta,
                timestamp_delta: at - timestamps[0],
                key: None,
                value: Some(b"value"),
                headers: Vec::new(),
            });
        }
        builder.build().unwrap()
    }

    fn within_a_second() -> TopicConfig {
        TopicConfig {
            timestamp_before_max_ms: 1_000,
            timestamp_after_max_ms: 1_000,
            ..TopicConfig::resolve(&Config::default(), &"t".into(), &TopicConfigs::new())
        }
    }

    /// The indexes of the records that are named, `None` where the batch is taken.
    fn refused(batch: &Batch, config: &TopicConfig) -> Option<Vec<i32>> {
        match check_timestamps(batch, config, TimestampMs(NOW)) {
            Ok(()) => None,
            Err(ProduceError::InvalidTimestamp { records, .. }) => {
                Some(records.iter().map(|it| it.index).collect())
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn each_record_that_is_too_far_is_named() {
        let config = within_a_second();
        for (timestamps, want) in [
            (vec![NOW - 1_000, NOW + 1_000], None),
            (vec![NOW - 1_001], Some(vec![0])),
            (vec![NOW + 1_001], Some(vec![0])),
            (vec![NOW, 5, NOW, NOW + 1_001], Some(vec![1, 3])),
            (vec![-1], None),
        ] {
            assert_eq!(
                refused(&batch(Compression::None, &timestamps), &config),
                want,
                "{timestamps:?}"
            );
        }
    }

    #[test]
    fn of_a_compressed_batch_counts_what_its_header_tells() {
        let config = within_a_second();
        for (timestamps, want) in [
            (vec![NOW, 5, NOW], None),
            (vec![5, NOW], Some(vec![])),
            (vec![NOW, NOW + 1_001], Some(vec![])),
        ] {
            assert_eq!(
                refused(&batch(Compression::Gzip, &timestamps), &config),
                want,
                "{timestamps:?}"
            );
        }
    }

    #[test]
    fn what_the_log_stamps_may_say_anything() {
        let config =
            TopicConfig { timestamp_type: TimestampType::LogAppendTime, ..within_a_second() };
        assert_eq!(refused(&batch(Compression::None, &[5]), &config), None);
    }
}
