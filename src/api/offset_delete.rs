//! `OffsetDelete` (key 47), version 0 (KIP-496).
//!
//! Removes committed offsets of a group, but of no topic that its members read.

use std::{collections::BTreeMap, ops::RangeInclusive};

use kafka_protocol::messages::{
    OffsetDeleteRequest, OffsetDeleteResponse,
    offset_delete_request::OffsetDeleteRequestTopic,
    offset_delete_response::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic},
};

use super::{Context, Rooms, group_text};
use crate::{
    base::{ErrorCode, TopicPartition},
    metadata::MetadataImage,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=0;

pub async fn handle(
    rooms: &Rooms,
    _: &Context,
    request: OffsetDeleteRequest,
) -> OffsetDeleteResponse {
    let image = rooms.quorum.image();
    let asked = request.topics.iter().flat_map(partitions);
    let known: Vec<_> = asked.filter(|it| exists(&image, it)).collect();
    let deleted = match group_text::group_id(&request.group_id) {
        Ok(group_id) => {
            let deleted = rooms.groups.delete_partition_offsets(group_id, known.clone()).await;
            deleted.map_err(ErrorCode::from)
        }
        Err(code) => Err(code),
    };
    answer(&image, request.topics, known, deleted)
}

fn exists(image: &MetadataImage, it: &TopicPartition) -> bool {
    image.partition(it.topic.as_str(), it.partition).is_some()
}

fn partitions(topic: &OffsetDeleteRequestTopic) -> impl Iterator<Item = TopicPartition> {
    topic.partitions.iter().map(|it| TopicPartition::new(&**topic.name, it.partition_index))
}

/// `deleted` has a result for each of `known`. What the group as a whole is refused for stands above, and only what does not
/// exist below it.
fn answer(
    image: &MetadataImage,
    asked: Vec<OffsetDeleteRequestTopic>,
    known: Vec<TopicPartition>,
    deleted: Result<Vec<Result<(), crate::group::GroupError>>, ErrorCode>,
) -> OffsetDeleteResponse {
    let (code, results) = match deleted {
        Ok(results) => (ErrorCode::None, results),
        Err(code) => (code, Vec::new()),
    };
    let codes = results.into_iter().map(|it| it.err().map_or(ErrorCode::None, ErrorCode::from));
    let codes: BTreeMap<_, _> = known.into_iter().zip(codes).collect();
    let code_of = |it: &TopicPartition| match codes.get(it) {
        None if !exists(image, it) => Some(ErrorCode::UnknownTopicOrPartition),
        found => found.copied(),
    };
    let topics = asked.into_iter().filter_map(|topic| {
        let results = partitions(&topic).filter_map(|it| Some((it.partition, code_of(&it)?)));
        let results: Vec<_> = results.map(|(index, code)| result(index, code)).collect();
        let response = OffsetDeleteResponseTopic::default().with_name(topic.name);
        (!results.is_empty()).then(|| response.with_partitions(results))
    });
    OffsetDeleteResponse::default().with_error_code(code.code()).with_topics(topics.collect())
}

fn result(partition: i32, code: ErrorCode) -> OffsetDeleteResponsePartition {
    OffsetDeleteResponsePartition::default()
        .with_partition_index(partition)
        .with_error_code(code.code())
}

#[cfg(test)]
mod tests;
