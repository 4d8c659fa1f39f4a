//! `AlterPartitionReassignments` (key 45), versions 0 to 1.
//!
//! Moves replicas between nodes, or stops such a move (`replicas` is null).
//!
//! | version | adds                                               | source  |
//! |---------|----------------------------------------------------|---------|
//! | 0       |                                                    | KIP-455 |
//! | 1       | whether the number of replicas may become another  | KIP-860 |
//!
//! Not served: a move to another node. A partition that is to be where it is is; every other assignment is refused, as Kafka
//! refuses brokers that it does not know.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, BrokerId as WireId,
    alter_partition_reassignments_request::ReassignablePartition,
    alter_partition_reassignments_response::{
        ReassignablePartitionResponse, ReassignableTopicResponse,
    },
};

use super::{
    Context, Rooms,
    refusal::{Refusal, code_and_message},
};
use crate::{
    base::{BrokerId, TopicPartition},
    controller::reassign,
    metadata::MetadataImage,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=1;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    _: &Context,
    request: AlterPartitionReassignmentsRequest,
) -> AlterPartitionReassignmentsResponse {
    answer(&rooms.quorum.image(), request)
}

fn answer(
    image: &MetadataImage,
    request: AlterPartitionReassignmentsRequest,
) -> AlterPartitionReassignmentsResponse {
    let may_change_count = request.allow_replication_factor_change;
    let topics = request.topics.into_iter().map(|topic| {
        let partitions = topic.partitions.into_iter().map(|asked| {
            let key = TopicPartition::new(&**topic.name, asked.partition_index);
            let replicas = replicas(&asked);
            let result = reassign(image, &key, replicas.as_deref(), may_change_count);
            partition_response(asked.partition_index, &result.map_err(Refusal::from))
        });
        let partitions = partitions.collect();
        ReassignableTopicResponse::default().with_name(topic.name).with_partitions(partitions)
    });
    AlterPartitionReassignmentsResponse::default()
        .with_allow_replication_factor_change(may_change_count)
        .with_error_message(None)
        .with_responses(topics.collect())
}

fn replicas(asked: &ReassignablePartition) -> Option<Vec<BrokerId>> {
    let id = |it: &WireId| BrokerId(it.0);
    asked.replicas.as_ref().map(|it| it.iter().map(id).collect())
}

fn partition_response(
    partition: i32,
    result: &Result<(), Refusal>,
) -> ReassignablePartitionResponse {
    let (code, message) = code_and_message(result);
    ReassignablePartitionResponse::default()
        .with_partition_index(partition)
        .with_error_code(code)
        .with_error_message(message)
}

#[cfg(test)]
mod tests;
