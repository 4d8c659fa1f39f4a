//! The one call that a new version must answer before it may replace another, and the probes of `klamm plugin check`.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use super::{
    guest::Call,
    hook::{
        GroupSnapshot, MemberSnapshot, PartitionSnapshot, PartitionerInput, TopicSnapshot,
        TransformInput,
    },
    status::HookKind,
};
use crate::{
    base::{LeaderEpoch, Offset, ProducerEpoch, TimestampMs, TopicName, TopicPartition},
    wire::record_batch::{Attributes, BatchHeader, DecodedBatch, RecordSpan},
};

/// A record of a made-up batch.
pub(super) type KeyValue<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

const TOPIC: &str = "klamm-smoke-call";

/// A small call of each hook, like those to come.
pub(super) fn call(hook: HookKind) -> Call {
    let records: [KeyValue<'_>; 3] = [
        (Some(b"key"), Some(b"2026-01-02 03:04:05,678 INFO a line")),
        (None, Some(b"{\"level\":\"info\"}")),
        (Some(b""), None),
    ];
    match hook {
        HookKind::Partitioner => place(&records, 3, 0, 0),
        HookKind::Transform => process(&records),
        HookKind::Assignor => Call::Assign(Arc::new(group(2, 3))),
    }
}

pub(super) fn place(records: &[KeyValue<'_>], partitions: u32, sequence: u32, seed: u32) -> Call {
    Call::Place {
        input: PartitionerInput {
            topic: TOPIC.into(),
            partitions,
            batch: Arc::new(batch(records)),
            sequence,
            seed,
        },
        records: 0..records.len(),
    }
}

pub(super) fn process(records: &[KeyValue<'_>]) -> Call {
    Call::Process {
        input: TransformInput {
            partition: TopicPartition::new(TOPIC, 0),
            batch: Arc::new(batch(records)),
            now: TimestampMs(0),
        },
        records: 0..records.len(),
        state: Vec::new(),
    }
}

/// A batch as the decoder makes it.
pub(super) fn batch(records: &[KeyValue<'_>]) -> DecodedBatch {
    let mut data = Vec::new();
    let mut push = |field: Option<&[u8]>| {
        field.map(|bytes| {
            let start = data.len() as u32;
            data.extend_from_slice(bytes);
            start..data.len() as u32
        })
    };
    let spans: Vec<RecordSpan> = records
        .iter()
        .enumerate()
        .map(|(index, (key, value))| RecordSpan {
            offset_delta: index as i32,
            timestamp_delta: 0,
            key: push(*key),
            value: push(*value),
            headers: 0..0,
            headers_count: 0,
        })
        .collect();
    DecodedBatch { header: header(records.len()), data: Bytes::from(data), records: spans }
}

fn header(records: usize) -> BatchHeader {
    BatchHeader {
        base_offset: Offset(0),
        batch_length: 0,
        partition_leader_epoch: LeaderEpoch(0),
        crc: 0,
        attributes: Attributes(0),
        last_offset_delta: records as i32 - 1,
        base_timestamp: TimestampMs(0),
        max_timestamp: TimestampMs(0),
        producer_id: None,
        producer_epoch: ProducerEpoch(-1),
        base_sequence: -1,
        records_count: records as i32,
    }
}

/// Members that all subscribe to one topic.
pub(super) fn group(members: usize, partitions: i32) -> GroupSnapshot {
    let topic = TopicName::from(TOPIC);
    GroupSnapshot {
        group_id: TOPIC.into(),
        members: (0..members)
            .map(|index| MemberSnapshot {
                member_id: format!("member-{index}").as_str().into(),
                instance_id: None,
                rack: None,
                client_id: "klamm".into(),
                topics: vec![topic.clone()],
                user_data: Vec::new(),
                owned: BTreeMap::new(),
            })
            .collect(),
        topics: vec![TopicSnapshot {
            name: topic.clone(),
            partitions: (0..partitions)
                .map(|index| PartitionSnapshot {
                    index,
                    leader: 1,
                    racks: Vec::new(),
                    lag: -1,
                    log_end_offset: 0,
                    byte_rate: 0.0,
                })
                .collect(),
        }],
    }
}
