//! Cleaning whole logs, on real files.

use std::path::Path;

use crate::{
    base::{Offset, ProducerEpoch, ProducerId, TimestampMs},
    config::{CleanerConfig, CleanupPolicy},
    log::{
        Cleaner, Log, LogError, LogSettings, file_name,
        tests::{NOW, context, open, open_clean, settings},
    },
    wire::record_batch::{
        Batch, BatchBuilder, Compression, ControlType, RecordParts, control_batch,
        own_control_batch,
    },
};

mod crashes;
mod model;
mod rules;

/// How long tombstones live in these tests.
const TOMBSTONE_MS: i64 = 1_000;

fn compacted() -> LogSettings {
    LogSettings {
        cleanup_policy: CleanupPolicy { delete: false, compact: true },
        min_cleanable_dirty_ratio: 0.0,
        delete_retention_ms: TOMBSTONE_MS,
        segment_bytes: 2_000,
        ..settings()
    }
}

fn cleaner() -> Cleaner {
    cleaner_with(1 << 20)
}

fn cleaner_with(dedupe_buffer_bytes: usize) -> Cleaner {
    Cleaner::new(&CleanerConfig {
        enable: true,
        threads: 1,
        backoff_ms: 0,
        dedupe_buffer_bytes,
        io_buffer_bytes: 500,
        io_max_bytes_per_second: f64::MAX,
    })
}

/// Key and value.
type Keyed = (String, Option<String>);

fn keyed(key: &str, value: &str) -> Keyed {
    (key.into(), Some(value.into()))
}

fn tombstone(key: &str) -> Keyed {
    (key.into(), None)
}

fn builder(codec: Compression, records: &[Keyed]) -> BatchBuilder {
    let mut builder = BatchBuilder::new(NOW, codec);
    for (delta, (key, value)) in (0..).zip(records) {
        builder.push(&RecordParts {
            offset_delta: delta,
            timestamp_delta: i64::from(delta),
            key: Some(key.as_bytes()),
            value: value.as_deref().map(str::as_bytes),
            headers: Vec::new(),
        });
    }
    builder
}

fn append(log: &Log, batch: Batch) -> Offset {
    log.append(vec![batch], context()).unwrap().base_offset
}

fn append_records(log: &Log, records: &[Keyed]) -> Offset {
    append(log, builder(Compression::None, records).build().unwrap())
}

fn by(builder: BatchBuilder, producer: i64, sequence: i32) -> Batch {
    builder.producer(ProducerId(producer), ProducerEpoch(0), sequence).build().unwrap()
}

/// Seals what was appended.
fn roll(log: &Log) {
    if log.active().size() > 0 {
        log.roll(&mut log.writer.lock(), NOW).unwrap();
    }
}

/// Rolls and cleans, until there is nothing left to clean.
fn clean(log: &Log, now: TimestampMs) {
    roll(log);
    while let Some(cleaned) = cleaner().clean(log, log.log_end_offset(), now).unwrap() {
        assert!(cleaned.complete);
    }
    assert_eq!(log.first_dirty(), log.active().base_offset);
}

/// All batches, read one after the other, whole and in order.
fn batches(log: &Log) -> Vec<Batch> {
    let (mut found, mut from) = (Vec::new(), log.log_start_offset());
    while from < log.log_end_offset() {
        let fetched = log.read(from, log.log_end_offset(), 300, true).unwrap();
        for batch in fetched.batches() {
            batch.check_crc().unwrap();
            assert!(batch.header.last_offset() >= from);
            from = batch.header.last_offset() + 1;
            found.push(batch);
        }
        if fetched.records.is_empty() {
            break;
        }
    }
    found
}

/// Offset, key and value of every record of data.
fn records(log: &Log) -> Vec<(i64, Keyed)> {
    let mut found = Vec::new();
    for batch in batches(log).iter().filter(|it| !it.header.attributes.is_control()) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        for record in batch.decode(1 << 20).unwrap().records() {
            let offset = batch.header.base_offset.0 + i64::from(record.offset_delta());
            found.push((offset, (text(record.key().unwrap()), record.value().map(text))));
        }
    }
    found
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Files of a change that was not finished.
fn unfinished(dir: &Path) -> Vec<String> {
    let mut names = names(dir);
    let ends = [file_name::CLEANED, file_name::SWAP, file_name::REPLACED];
    names.retain(|name| ends.iter().any(|it| name.ends_with(it)));
    names
}
