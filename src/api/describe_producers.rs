//! `DescribeProducers` (key 61), version 0 (KIP-664).
//!
//! The idempotent producers that a partition remembers. Served by the partition's leader. Producers that Klamm derives for
//! the parts of routed batches are among them: bit 62 of their id is set.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        DescribeProducersRequest, DescribeProducersResponse,
        describe_producers_request::TopicRequest,
        describe_producers_response::{PartitionResponse, ProducerState, TopicResponse},
    },
    protocol::StrBytes,
};

use super::{
    Context, Rooms,
    distinct::distinct,
    refusal::{Refusal, code_and_message},
};
use crate::{
    base::{ErrorCode, TopicPartition},
    controller::{ControllerError, validate_topic_name},
    log::ActiveProducer,
    replica::ReplicaManager,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=0;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    _: &Context,
    request: DescribeProducersRequest,
) -> DescribeProducersResponse {
    let topics = distinct(request.topics, |it| it.name.clone()).into_iter();
    let topics = topics.map(|it| topic_response(&rooms.replicas, it));
    DescribeProducersResponse::default().with_topics(topics.collect())
}

fn topic_response(replicas: &ReplicaManager, topic: TopicRequest) -> TopicResponse {
    let found = check_topic(replicas, &topic);
    let partitions = distinct(topic.partition_indexes, |it| *it).into_iter().map(|partition| {
        let key = TopicPartition::new(&**topic.name, partition);
        let producers = found.clone().and_then(|()| producers(replicas, &key));
        partition_response(partition, producers)
    });
    let partitions = partitions.collect();
    TopicResponse::default().with_name(topic.name).with_partitions(partitions)
}

fn check_topic(replicas: &ReplicaManager, topic: &TopicRequest) -> Result<(), Refusal> {
    validate_topic_name(&topic.name)?;
    match replicas.partition_count(&(&**topic.name).into()) {
        0 => Err(ControllerError::UnknownTopic.into()),
        _ => Ok(()),
    }
}

fn producers(
    replicas: &ReplicaManager,
    key: &TopicPartition,
) -> Result<Vec<ActiveProducer>, Refusal> {
    let partition = replicas.leader(key, None).map_err(|it| {
        let message = it.to_string();
        Refusal::new(ErrorCode::from(it), message)
    })?;
    Ok(partition.log().active_producers())
}

fn partition_response(
    partition: i32,
    producers: Result<Vec<ActiveProducer>, Refusal>,
) -> PartitionResponse {
    let (code, message): (i16, Option<StrBytes>) = code_and_message(&producers);
    let producers = producers.unwrap_or_default();
    PartitionResponse::default()
        .with_partition_index(partition)
        .with_error_code(code)
        .with_error_message(message)
        .with_active_producers(producers.iter().map(producer_state).collect())
}

/// There are no transactions: no coordinator has spoken, and none is open.
fn producer_state(it: &ActiveProducer) -> ProducerState {
    ProducerState::default()
        .with_producer_id(it.producer_id.0.into())
        .with_producer_epoch(it.producer_epoch.0.into())
        .with_last_sequence(it.last_sequence)
        .with_last_timestamp(it.last_timestamp.0)
        .with_coordinator_epoch(-1)
        .with_current_txn_start_offset(-1)
}
