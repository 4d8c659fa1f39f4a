//! How far records' timestamps may be from the broker's clock: `message.timestamp.before.max.ms` and
//! `message.timestamp.after.max.ms` (KIP-937). Pure.
//!
//! Rule: a compressed batch is not looked into for this; of it counts what the header tells. Where its records are looked at anyway,
//! they count.

use super::{ProduceError, RefusedRecord};
use crate::{
    base::TimestampMs,
    config::TopicConfig,
    wire::record_batch::{Batch, Compression, DecodedBatch, NO_TIMESTAMP, TimestampType},
};

/// Records that an answer names at most; a batch may have many more.
const NAMED_MAX: usize = 1_000;

/// The times of a batch's records, as they are looked at.
pub(crate) struct Times<'a> {
    base: TimestampMs,
    config: &'a TopicConfig,
    now: TimestampMs,
    /// Index and timestamp of the first of those that are too far.
    far: Vec<(i32, i64)>,
    largest: TimestampMs,
}

impl<'a> Times<'a> {
    pub(crate) fn new(base: TimestampMs, config: &'a TopicConfig, now: TimestampMs) -> Self {
        Self { base, config, now, far: Vec::new(), largest: NO_TIMESTAMP }
    }

    pub(crate) fn note(&mut self, index: i32, delta: i64) {
        let at = self.base.0.saturating_add(delta);
        self.largest = self.largest.max(TimestampMs(at));
        if self.far.len() < NAMED_MAX && is_far(at, self.config, self.now) {
            self.far.push((index, at));
        }
    }

    /// Of all records.
    pub(crate) fn largest(&self) -> TimestampMs {
        self.largest
    }

    pub(crate) fn are_near(&self) -> bool {
        self.far.is_empty()
    }

    /// Refuses the batch, if a record is too far.
    pub(crate) fn refuse(&self) -> Result<(), ProduceError> {
        match self.far.first() {
            Some(&(_, timestamp)) => refuse(timestamp, self.far.iter().map(named).collect()),
            None => Ok(()),
        }
    }
}

/// Refuses a decoded batch with a record that is too old or too new.
pub(crate) fn check_records(
    batch: &DecodedBatch,
    config: &TopicConfig,
    now: TimestampMs,
) -> Result<(), ProduceError> {
    let mut times = Times::new(batch.header.base_timestamp, config, now);
    for (index, record) in (0..).zip(batch.records()) {
        times.note(index, record.timestamp_delta());
    }
    times.refuse()
}

/// Whether the header of a batch tells the largest timestamp of its records, or will be told another.
pub(crate) fn is_told(batch: &DecodedBatch, config: &TopicConfig) -> bool {
    let deltas = batch.records().map(|it| it.timestamp_delta());
    let times = deltas.map(|it| TimestampMs(batch.header.base_timestamp.0.saturating_add(it)));
    let largest = times.max().unwrap_or(NO_TIMESTAMP).max(NO_TIMESTAMP);
    is_stamped_here(config) || largest == batch.header.max_timestamp
}

/// Whether the log stamps what it stores: what producers say does not matter then.
pub(crate) fn is_stamped_here(config: &TopicConfig) -> bool {
    config.timestamp_type == TimestampType::LogAppendTime
}

/// Refuses a batch with a record that is too old or too new.
pub(crate) fn check_timestamps(
    batch: &Batch,
    config: &TopicConfig,
    now: TimestampMs,
) -> Result<(), ProduceError> {
    let is_far = |at| is_far(at, config, now);
    let header = &batch.header;
    if is_stamped_here(config) {
        return Ok(());
    }
    let told = [header.base_timestamp.0, header.max_timestamp.0].into_iter().find(|&it| is_far(it));
    let has_floor = config.timestamp_before_max_ms != i64::MAX;
    if (told.is_none() && !has_floor) || header.attributes.compression()? != Compression::None {
        return told.map_or(Ok(()), |timestamp| refuse(timestamp, Vec::new()));
    }
    let mut times = Times::new(header.base_timestamp, config, now);
    batch.find_record(batch.bytes.len(), |index, delta| {
        times.note(index, delta);
        false
    })?;
    times.refuse()?;
    told.map_or(Ok(()), |timestamp| refuse(timestamp, Vec::new()))
}

fn is_far(at: i64, config: &TopicConfig, now: TimestampMs) -> bool {
    !is_stamped_here(config) && (is_too_old(at, config, now) || is_too_new(at, config, now))
}

/// −1 stands for no timestamp.
fn is_too_old(at: i64, config: &TopicConfig, now: TimestampMs) -> bool {
    at >= 0 && now.0.saturating_sub(at) > config.timestamp_before_max_ms
}

fn is_too_new(at: i64, config: &TopicConfig, now: TimestampMs) -> bool {
    at.saturating_sub(now.0) > config.timestamp_after_max_ms
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
