//! `DeleteTopics` (key 20), versions 1 to 6.
//!
//! | version | adds                        | source  |
//! |---------|-----------------------------|---------|
//! | 3       | `TOPIC_DELETION_DISABLED`   | KIP-322 |
//! | 4       | flexible encoding           | KIP-482 |
//! | 5       | messages, quotas as errors  | KIP-599 |
//! | 6       | topics by id                | KIP-516 |

use std::{collections::BTreeMap, ops::RangeInclusive};

use kafka_protocol::{
    messages::{
        DeleteTopicsRequest, DeleteTopicsResponse, delete_topics_response::DeletableTopicResult,
    },
    protocol::StrBytes,
};
use uuid::Uuid;

use super::{
    Context, Rooms,
    metadata_change::MetadataChange,
    mutations::{Mutations, in_order, retain_admitted},
    refusal::{Refusal, code_and_message},
};
use crate::{
    base::{ErrorCode, TopicId, TopicName},
    controller::{ControllerError, delete_topics},
    machine::Decision,
    metadata::{MetadataImage, MetadataRecord},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=6;

/// The first version that is told of a quota by an error (KIP-599).
const QUOTA_ERROR_SINCE: i16 = 5;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DeleteTopicsRequest,
) -> DeleteTopicsResponse {
    let change = MetadataChange::new(rooms, false, request.timeout_ms);
    answer_within_quota(&change, context, request).await
}

async fn answer_within_quota(
    change: &MetadataChange<'_>,
    context: &Context,
    mut request: DeleteTopicsRequest,
) -> DeleteTopicsResponse {
    let version = context.api_version;
    let Some(mut mutations) = Mutations::of(context, QUOTA_ERROR_SINCE) else {
        return answer(change, version, &request).await;
    };
    let asked = asked(&request);
    let valid = deleted(&change.validating(), version, &asked).await;
    let image = change.quorum.image();
    let partitions = |it: &Result<(TopicName, TopicId), Refusal>| {
        it.as_ref().ok().map(|(name, _)| size(&image, name))
    };
    let admissions = mutations.admit(valid.iter().map(partitions));
    let mut is_admitted = admissions.iter().map(Result::is_ok);
    retain_admitted(&mut request.topic_names, &mut is_admitted);
    retain_admitted(&mut request.topics, &mut is_admitted);
    let mut response = answer(change, version, &request).await;
    let refused = |it: &Asked, why: &Refusal| result(version, it, Err(why.clone()));
    response.responses = in_order(&asked, &admissions, response.responses, refused);
    response.with_throttle_time_ms(mutations.throttle_time_ms())
}

fn size(image: &MetadataImage, topic: &TopicName) -> usize {
    image.topics.get(topic).map_or(0, |it| it.partitions.len())
}

/// How a request names a topic: by name or by id, if it does as it should.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    name: Option<TopicName>,
    id: Option<TopicId>,
}

async fn answer(
    change: &MetadataChange<'_>,
    version: i16,
    request: &DeleteTopicsRequest,
) -> DeleteTopicsResponse {
    let asked = asked(request);
    let results = deleted(change, version, &asked).await;
    let results = asked.iter().zip(results).map(|(asked, it)| result(version, asked, it));
    DeleteTopicsResponse::default().with_responses(results.collect())
}

async fn deleted(
    change: &MetadataChange<'_>,
    version: i16,
    asked: &[Asked],
) -> Vec<Result<(TopicName, TopicId), Refusal>> {
    if change.config.node.delete_topic_enable {
        return change.make(asked.len(), |image| decide(image, asked)).await;
    }
    let code =
        if version < 3 { ErrorCode::InvalidRequest } else { ErrorCode::TopicDeletionDisabled };
    let disabled = Refusal::new(code, "Topic deletion is disabled.");
    asked.iter().map(|_| Err(disabled.clone())).collect()
}

fn asked(request: &DeleteTopicsRequest) -> Vec<Asked> {
    let by_name =
        request.topic_names.iter().map(|it| Asked { name: Some((&*it.0).into()), id: None });
    let either = request.topics.iter().map(|it| Asked {
        name: it.name.as_ref().map(|it| (&*it.0).into()),
        id: Some(it.topic_id).filter(|it| !it.is_nil()).map(TopicId),
    });
    by_name.chain(either).collect()
}

type Deleted = Result<(TopicName, TopicId), ControllerError>;

/// Finds what is asked for in the image that is decided on: a name means what it means then.
fn decide(image: &MetadataImage, asked: &[Asked]) -> Decision<MetadataRecord, Vec<Deleted>> {
    let mut times = BTreeMap::new();
    for it in asked {
        *times.entry(it).or_insert(0) += 1;
    }
    let mut found: Vec<Deleted> = asked
        .iter()
        .map(|it| if times.get(it) == Some(&1) { find(image, it) } else { Err(twice(it)) })
        .collect();
    refuse_same_topic(&mut found);
    let ids: Vec<TopicId> = found.iter().flatten().map(|(_, id)| *id).collect();
    Decision::new(delete_topics(image, &ids).records, found)
}

fn find(image: &MetadataImage, asked: &Asked) -> Deleted {
    let invalid = |reason: &str| Err(ControllerError::InvalidRequest(reason.into()));
    let topic = match (&asked.name, asked.id) {
        (None, None) => return invalid("Neither topic name nor id were specified."),
        (Some(_), Some(_)) => return invalid("You may not specify both topic name and topic id."),
        (Some(name), None) => image.topics.get(name).ok_or(ControllerError::UnknownTopic)?,
        (None, Some(id)) => image.topic_by_id(id).ok_or(ControllerError::UnknownTopicId)?,
    };
    Ok((topic.name.clone(), topic.id))
}

fn twice(asked: &Asked) -> ControllerError {
    let what = if asked.name.is_some() { "name" } else { "id" };
    ControllerError::InvalidRequest(format!("Duplicate topic {what}."))
}

/// A topic that is named by its name and again by its id is refused both times.
fn refuse_same_topic(found: &mut [Deleted]) {
    let mut times = BTreeMap::new();
    for (_, id) in found.iter().flatten() {
        *times.entry(*id).or_insert(0) += 1;
    }
    for it in found {
        if it.as_ref().is_ok_and(|(_, id)| times.get(id) != Some(&1)) {
            *it = Err(ControllerError::InvalidRequest(
                "The provided topic name maps to an ID that was already supplied.".into(),
            ));
        }
    }
}

fn result(
    version: i16,
    asked: &Asked,
    deleted: Result<(TopicName, TopicId), Refusal>,
) -> DeletableTopicResult {
    let (error_code, message) = code_and_message(&deleted);
    let (name, id) = match deleted {
        Ok((name, id)) => (Some(name), Some(id)),
        Err(_) => (asked.name.clone(), asked.id),
    };
    let result = DeletableTopicResult::default()
        .with_name(name.map(|it| StrBytes::from_string(it.to_string()).into()))
        .with_error_code(error_code);
    match version {
        6.. => result.with_error_message(message).with_topic_id(id.map_or(Uuid::nil(), |it| it.0)),
        5 => result.with_error_message(message),
        _ => result.with_error_message(None),
    }
}

#[cfg(test)]
mod tests;
