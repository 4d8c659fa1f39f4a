//! `ElectLeaders` (key 43), versions 0 to 2.
//!
//! Lets the preferred replica of partitions lead, or any where none does.
//!
//! | version | adds                                    | source  |
//! |---------|-----------------------------------------|---------|
//! | 0       | the preferred replica                   | KIP-183 |
//! | 1       | the kind of election, a code for all    | KIP-460 |
//! | 2       | flexible encoding                       | KIP-482 |
//!
//! On one node there is nobody else to elect.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{
    ElectLeadersRequest, ElectLeadersResponse,
    elect_leaders_request::TopicPartitions,
    elect_leaders_response::{PartitionResult, ReplicaElectionResult},
};

use super::{
    Context, Rooms,
    group_text::wire,
    refusal::{Refusal, code_and_message},
};
use crate::{
    base::{ErrorCode, TopicPartition},
    controller::{ElectionType, elect_leader},
    metadata::{MetadataImage, TopicImage},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    _: &Context,
    request: ElectLeadersRequest,
) -> ElectLeadersResponse {
    answer(&rooms.quorum.image(), request)
}

fn answer(image: &MetadataImage, request: ElectLeadersRequest) -> ElectLeadersResponse {
    let election_type = match request.election_type {
        0 => Ok(ElectionType::Preferred),
        1 => Ok(ElectionType::Unclean),
        other => Err(Refusal::invalid_request(format!("Unknown election type {other}"))),
    };
    let elect = |partition: &TopicPartition| match &election_type {
        Ok(election_type) => Ok(elect_leader(image, partition, *election_type)?),
        Err(refusal) => Err(refusal.clone()),
    };
    let results = match request.topic_partitions {
        Some(topics) => topics.into_iter().map(|it| asked(it, elect)).collect(),
        None if election_type.is_err() => Vec::new(),
        None => image.topics.values().map(|it| all_of(it, elect)).collect(),
    };
    ElectLeadersResponse::default()
        .with_error_code(code_and_message(&election_type).0)
        .with_replica_election_results(results)
}

fn asked(
    topic: TopicPartitions,
    elect: impl Fn(&TopicPartition) -> Result<(), Refusal>,
) -> ReplicaElectionResult {
    let results = topic.partitions.iter().map(|&partition| {
        partition_result(partition, &elect(&TopicPartition::new(&**topic.topic, partition)))
    });
    let results = results.collect();
    ReplicaElectionResult::default().with_topic(topic.topic).with_partition_result(results)
}

/// Of all partitions, those that needed none are left out.
fn all_of(
    topic: &TopicImage,
    elect: impl Fn(&TopicPartition) -> Result<(), Refusal>,
) -> ReplicaElectionResult {
    let indices = (0..).zip(&topic.partitions).map(|(index, _)| index);
    let results = indices.map(|index| {
        let key = TopicPartition { topic: topic.name.clone(), partition: index };
        (index, elect(&key))
    });
    let is_news = |result: &Result<(), Refusal>| !matches!(result, Err(it) if it.code == ErrorCode::ElectionNotNeeded);
    let results = results.filter(|(_, it)| is_news(it)).map(|(at, it)| partition_result(at, &it));
    ReplicaElectionResult::default()
        .with_topic(wire(topic.name.as_str()).into())
        .with_partition_result(results.collect())
}

fn partition_result(partition: i32, result: &Result<(), Refusal>) -> PartitionResult {
    let (code, message) = code_and_message(result);
    PartitionResult::default()
        .with_partition_id(partition)
        .with_error_code(code)
        .with_error_message(message)
}

#[cfg(test)]
mod tests;
