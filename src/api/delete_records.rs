//! `DeleteRecords` (key 21), versions 0 to 2.
//!
//! Deletes the records of partitions below an offset (KIP-107): readers do not see them any more; the files go with
//! retention, when no record in them is left. Served by the partition's leader.
//!
//! | version | adds              | source  |
//! |---------|-------------------|---------|
//! | 1       | nothing           | KIP-219 |
//! | 2       | flexible encoding | KIP-482 |
//!
//! The answer does not wait for other replicas, as there are none; so the timeout has no meaning.

use std::{collections::HashMap, ops::RangeInclusive, sync::Arc};

use kafka_protocol::messages::{
    DeleteRecordsRequest, DeleteRecordsResponse,
    delete_records_response::{DeleteRecordsPartitionResult, DeleteRecordsTopicResult},
};

use super::{Context, Rooms, internal_topic::is_internal};
use crate::{
    base::{ErrorCode, Offset, TopicPartition},
    replica::{DeleteUpTo, ReplicaManager, off_workers},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

/// As an offset: everything that is committed.
const HIGH_WATERMARK: i64 = -1;

/// Answers a request. A partition that fails does not fail its neighbours. It writes to disk, so it is done off the runtime's
/// workers.
pub async fn handle(
    rooms: &Rooms,
    _: &Context,
    request: DeleteRecordsRequest,
) -> DeleteRecordsResponse {
    let replicas = Arc::clone(&rooms.replicas);
    off_workers(move || answer(&replicas, &request)).await
}

fn answer(replicas: &ReplicaManager, request: &DeleteRecordsRequest) -> DeleteRecordsResponse {
    let deleted = delete(replicas, request);
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|it| {
            let key = TopicPartition::new(&**topic.name, it.partition_index);
            let result = deleted.get(&key).copied();
            partition_result(it.partition_index, result.unwrap_or(Err(ErrorCode::InvalidRequest)))
        });
        DeleteRecordsTopicResult::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    });
    DeleteRecordsResponse::default().with_topics(topics.collect())
}

/// What became of each partition; of those named more than once the last counts, as in Kafka.
fn delete(
    replicas: &ReplicaManager,
    request: &DeleteRecordsRequest,
) -> HashMap<TopicPartition, Result<Offset, ErrorCode>> {
    let mut asked = HashMap::new();
    for topic in &request.topics {
        for it in &topic.partitions {
            asked.insert(TopicPartition::new(&**topic.name, it.partition_index), it.offset);
        }
    }
    let checked = asked.into_iter().map(|(key, offset)| {
        let up_to = check(replicas, &key, offset);
        (key, up_to)
    });
    let (mut answers, mut served) = (HashMap::new(), Vec::new());
    for (key, up_to) in checked {
        match up_to {
            Ok(up_to) => served.push((key, up_to)),
            Err(code) => drop(answers.insert(key, Err(code))),
        }
    }
    let deleted = replicas.delete_records(&served).into_iter().map(|it| Ok(it?));
    answers.extend(served.into_iter().map(|(key, _)| key).zip(deleted));
    answers
}

/// In the order in which Kafka checks.
fn check(
    replicas: &ReplicaManager,
    key: &TopicPartition,
    offset: i64,
) -> Result<DeleteUpTo, ErrorCode> {
    let exists =
        u32::try_from(key.partition).is_ok_and(|it| it < replicas.partition_count(&key.topic));
    if !exists {
        return Err(ErrorCode::UnknownTopicOrPartition);
    }
    if is_internal(&key.topic) {
        return Err(ErrorCode::InvalidTopicException);
    }
    if !replicas.leader(key, None)?.config().cleanup_policy.delete {
        return Err(ErrorCode::PolicyViolation);
    }
    match offset {
        HIGH_WATERMARK => Ok(DeleteUpTo::HighWatermark),
        0.. => Ok(DeleteUpTo::Offset(Offset(offset))),
        _ => Err(ErrorCode::OffsetOutOfRange),
    }
}

fn partition_result(
    partition: i32,
    result: Result<Offset, ErrorCode>,
) -> DeleteRecordsPartitionResult {
    let (code, low_watermark) = match result {
        Ok(low_watermark) => (ErrorCode::None, low_watermark.0),
        Err(code) => (code, -1),
    };
    DeleteRecordsPartitionResult::default()
        .with_partition_index(partition)
        .with_error_code(code.code())
        .with_low_watermark(low_watermark)
}
