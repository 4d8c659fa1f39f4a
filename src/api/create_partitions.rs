//! `CreatePartitions` (key 37), versions 0 to 3 (KIP-195; 2 is flexible).
//!
//! The answer comes when the new partitions can be produced to. Not served: quotas on controller mutations (version 3, KIP-599).

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        CreatePartitionsRequest, CreatePartitionsResponse,
        create_partitions_request::CreatePartitionsTopic,
        create_partitions_response::CreatePartitionsTopicResult,
    },
    protocol::StrBytes,
};

use super::{Context, Rooms, metadata_change::MetadataChange, refusal::code_and_message};
use crate::{
    base::BrokerId,
    controller::{MorePartitions, create_partitions},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=3;

pub async fn handle(
    rooms: &Rooms,
    _context: &Context,
    request: CreatePartitionsRequest,
) -> CreatePartitionsResponse {
    let change = MetadataChange::new(rooms, request.validate_only, request.timeout_ms);
    answer(&change, &request).await
}

async fn answer(
    change: &MetadataChange<'_>,
    request: &CreatePartitionsRequest,
) -> CreatePartitionsResponse {
    let topics: Vec<MorePartitions> = request.topics.iter().map(more_partitions).collect();
    let results = change.make(topics.len(), |image| create_partitions(image, &topics)).await;
    let results = topics.iter().zip(results).map(|(topic, result)| {
        let (error_code, message) = code_and_message(&result);
        CreatePartitionsTopicResult::default()
            .with_name(StrBytes::from_string(topic.name.to_string()).into())
            .with_error_code(error_code)
            .with_error_message(message)
    });
    CreatePartitionsResponse::default().with_results(results.collect())
}

fn more_partitions(topic: &CreatePartitionsTopic) -> MorePartitions {
    let assignments = topic.assignments.as_ref().map(|assignments| {
        let ids = |it: &[kafka_protocol::messages::BrokerId]| {
            it.iter().map(|id| BrokerId(id.0)).collect()
        };
        assignments.iter().map(|it| ids(&it.broker_ids)).collect()
    });
    MorePartitions { name: (&*topic.name.0).into(), count: topic.count, assignments }
}

#[cfg(test)]
mod tests;
