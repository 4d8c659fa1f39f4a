//! `CreatePartitions` (key 37), versions 0 to 3 (KIP-195; 2 is flexible).
//!
//! The answer comes when the new partitions can be produced to. Version 3 is told by an error of a quota that is used up (KIP-599).

use std::ops::RangeInclusive;

use kafka_protocol::messages::{
    CreatePartitionsRequest, CreatePartitionsResponse,
    create_partitions_request::CreatePartitionsTopic,
    create_partitions_response::CreatePartitionsTopicResult,
};

use super::{
    Context, Rooms,
    metadata_change::MetadataChange,
    mutations::{Mutations, in_order, retain_admitted},
    refusal::{Refusal, code_and_message, sentence},
};
use crate::{
    base::BrokerId,
    controller::{MorePartitions, create_partitions},
    metadata::MetadataImage,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=3;

/// The first version that is told of a quota by an error (KIP-599).
const QUOTA_ERROR_SINCE: i16 = 3;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: CreatePartitionsRequest,
) -> CreatePartitionsResponse {
    let change = MetadataChange::new(rooms, request.validate_only, request.timeout_ms);
    answer_within_quota(&change, context, request).await
}

async fn answer_within_quota(
    change: &MetadataChange<'_>,
    context: &Context,
    mut request: CreatePartitionsRequest,
) -> CreatePartitionsResponse {
    let Some(mut mutations) = Mutations::of(context, QUOTA_ERROR_SINCE) else {
        return answer(change, &request).await;
    };
    let valid = results(&change.validating(), &request).await;
    let image = change.quorum.image();
    let partitions = |(topic, valid): (&CreatePartitionsTopic, Result<_, _>)| {
        valid.ok().map(|()| added(&image, topic))
    };
    let admissions = mutations.admit(request.topics.iter().zip(valid).map(partitions));
    let all = request.topics.clone();
    retain_admitted(&mut request.topics, &mut admissions.iter().map(Result::is_ok));
    let mut response = answer(change, &request).await;
    response.results = in_order(&all, &admissions, response.results, refusal);
    response.with_throttle_time_ms(mutations.throttle_time_ms())
}

fn added(image: &MetadataImage, topic: &CreatePartitionsTopic) -> usize {
    let there = image.topic(&topic.name.0).map_or(0, |it| it.partitions.len());
    usize::try_from(topic.count).unwrap_or(0).saturating_sub(there)
}

fn refusal(topic: &CreatePartitionsTopic, refusal: &Refusal) -> CreatePartitionsTopicResult {
    CreatePartitionsTopicResult::default()
        .with_name(topic.name.clone())
        .with_error_code(refusal.code.code())
        .with_error_message(Some(sentence(&*refusal.message)))
}

async fn answer(
    change: &MetadataChange<'_>,
    request: &CreatePartitionsRequest,
) -> CreatePartitionsResponse {
    let results = results(change, request).await;
    let results = request.topics.iter().zip(results).map(|(topic, result)| {
        let (error_code, message) = code_and_message(&result);
        CreatePartitionsTopicResult::default()
            .with_name(topic.name.clone())
            .with_error_code(error_code)
            .with_error_message(message)
    });
    CreatePartitionsResponse::default().with_results(results.collect())
}

async fn results(
    change: &MetadataChange<'_>,
    request: &CreatePartitionsRequest,
) -> Vec<Result<(), Refusal>> {
    let topics: Vec<MorePartitions> = request.topics.iter().map(more_partitions).collect();
    change.make(topics.len(), |image| create_partitions(image, &topics)).await
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
