//! Tests of the whole log, on real files. Its parts have theirs beside them.

use std::{path::Path, sync::Arc};

use bytes::BytesMut;
use kafka_protocol::{
    indexmap::IndexMap,
    records::{
        Compression, Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType as Kind,
    },
};

use super::{
    AppendContext, Appended, Fetched, Health, Log, LogError, LogSettings, Recovery,
    file::{Disk, RealDisk},
    recovery::Opening,
};
use crate::{
    base::{LeaderEpoch, Offset, TimestampMs},
    config::CleanupPolicy,
    wire::record_batch::{Batch, BatchHeader, TimestampType},
};

mod append;
mod damage;
mod deletion;
mod every_operation;
mod faults;
mod indexes;
mod lookups;
mod model;
mod preallocated;
mod producers;
mod recovery;
mod retention;
mod routes;
mod slices;

pub(super) const NOW: TimestampMs = TimestampMs(1_700_000_000_000);

pub(crate) fn settings() -> LogSettings {
    LogSettings {
        cleanup_policy: CleanupPolicy { delete: true, compact: false },
        min_cleanable_dirty_ratio: 0.5,
        min_compaction_lag_ms: 0,
        max_compaction_lag_ms: i64::MAX,
        delete_retention_ms: 86_400_000,
        retention_ms: -1,
        retention_bytes: -1,
        segment_bytes: 1 << 20,
        segment_ms: i64::MAX,
        segment_jitter_ms: 0,
        segment_index_bytes: 1 << 20,
        index_interval_bytes: 200,
        file_delete_delay_ms: 60_000,
        flush_messages: i64::MAX,
        flush_ms: i64::MAX,
        preallocate: false,
        producer_id_expiration_ms: 86_400_000,
        decompressed_max_bytes: 1 << 20,
    }
}

/// What a producer sends; the fields that tests care about.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) producer: (i64, i16, i32),
    pub(super) timestamps: Vec<i64>,
    pub(super) value_bytes: usize,
}

impl Sent {
    pub(super) fn records(count: usize) -> Self {
        Self { producer: (-1, -1, -1), timestamps: vec![NOW.0; count], value_bytes: 10 }
    }

    pub(super) fn by(self, id: i64, epoch: i16, sequence: i32) -> Self {
        Self { producer: (id, epoch, sequence), ..self }
    }

    pub(super) fn at(self, timestamps: &[i64]) -> Self {
        Self { timestamps: timestamps.to_vec(), ..self }
    }

    pub(super) fn batch(&self) -> Batch {
        let (producer_id, producer_epoch, sequence) = self.producer;
        let records: Vec<_> = (0_i32..)
            .zip(&self.timestamps)
            .map(|(at, &timestamp)| Record {
                transactional: false,
                control: false,
                delete_horizon: false,
                partition_leader_epoch: -1,
                producer_id,
                producer_epoch,
                timestamp_type: Kind::Creation,
                offset: i64::from(at),
                sequence: sequence.wrapping_add(at),
                timestamp,
                key: None,
                value: Some(vec![b'v'; self.value_bytes].into()),
                headers: IndexMap::new(),
            })
            .collect();
        let mut bytes = BytesMut::new();
        let options = RecordEncodeOptions { version: 2, compression: Compression::None };
        RecordBatchEncoder::encode(&mut bytes, &records, &options).unwrap();
        let bytes = bytes.freeze();
        Batch { header: BatchHeader::parse(&bytes).unwrap(), bytes }
    }
}

pub(super) fn context() -> AppendContext {
    AppendContext {
        leader_epoch: LeaderEpoch(0),
        now: NOW,
        timestamp_type: TimestampType::CreateTime,
    }
}

pub(super) fn append(log: &Log, sent: &Sent) -> Result<Appended, LogError> {
    log.append(vec![sent.batch()], context())
}

pub(super) fn read_all(log: &Log) -> Fetched {
    log.read(log.log_start_offset(), log.log_end_offset(), usize::MAX, true).unwrap()
}

/// (base offset, last offset) of every batch, over all segments.
pub(super) fn spans(log: &Log) -> Vec<(i64, i64)> {
    let (mut spans, mut from) = (Vec::new(), log.log_start_offset());
    while from < log.log_end_offset() {
        let fetched = log.read(from, log.log_end_offset(), usize::MAX, true).unwrap();
        spans.extend(
            fetched.batches().map(|it| (it.header.base_offset.0, it.header.last_offset().0)),
        );
        assert!(fetched.next_offset > from, "a read below the end goes on");
        from = fetched.next_offset;
    }
    spans
}

pub(super) fn open(dir: &Path, settings: LogSettings) -> Log {
    Log::open(dir.to_owned(), settings, NOW).unwrap()
}

/// Opens it as its directory would, which remembers the start that segments do not tell.
pub(super) fn reopen(dir: &Path, settings: LogSettings, clean: bool, before: &Log) -> Log {
    let log_start = before.start_within_segments().unwrap_or_default();
    let opening = Opening { clean, log_start, ..Opening::default() };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    Log::open_on(disk, dir.to_owned(), Arc::<Health>::default(), settings, opening, NOW).unwrap()
}

pub(super) fn open_clean(dir: &Path, settings: LogSettings) -> Log {
    let opening = Opening { clean: true, ..Opening::default() };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    Log::open_on(disk, dir.to_owned(), Arc::<Health>::default(), settings, opening, NOW).unwrap()
}
