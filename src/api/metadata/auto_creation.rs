//! Topics that come into being because a client asks for them.

use std::collections::BTreeMap;

use super::Asked;
use crate::{
    api::{
        Context,
        metadata_change::{MetadataChange, fresh_topic_id},
        refusal::Refusal,
        throttling::ClientThrottle,
    },
    base::{ErrorCode, TopicName},
    config::Config,
    controller::{
        ALERTS_TOPIC, CreatedTopic, LoadedPlugins, NewTopic, OFFSETS_TOPIC, alerts_topic,
        offsets_topic, validate_topic_name,
    },
};

/// Why topics that are not there could not be created.
pub(super) type Failures = BTreeMap<TopicName, ErrorCode>;

/// Creates what is asked for by name and does not exist. Above its quota a client is told to ask again, and not held back, as in
/// Kafka.
pub(super) async fn create_missing(
    change: &MetadataChange<'_>,
    context: &Context,
    asked: &[Asked],
) -> Failures {
    let image = change.quorum.image();
    let mut topics: Vec<NewTopic> = asked
        .iter()
        .filter_map(|it| match it {
            Asked::Name(name) => Some(name),
            Asked::Id(_) | Asked::Malformed(..) => None,
        })
        .filter(|it| !image.topics.contains_key(*it) && validate_topic_name(it.as_str()).is_ok())
        .map(|it| new_topic(change.config, it))
        .collect();
    if topics.is_empty() {
        return Failures::new();
    }
    // They have no hooks of their own, so that it does not matter which plugins are loaded.
    let plugins = LoadedPlugins::default();
    let mut failures = Failures::new();
    if let Some(throttle) = &context.throttle {
        let valid = change.validating().create_topics(&plugins, &topics).await;
        failures = without_those_above_quota(throttle, &mut topics, &valid);
    }
    let results = change.create_topics(&plugins, &topics).await;
    let created = topics.into_iter().zip(results);
    failures.extend(created.filter_map(|(it, result)| Some((it.name, code(result.err()?.code)))));
    failures
}

/// Takes away the topics that the client's quota does not allow; those that cannot be made anyhow stay, to be told why.
fn without_those_above_quota(
    throttle: &ClientThrottle,
    topics: &mut Vec<NewTopic>,
    valid: &[Result<CreatedTopic, Refusal>],
) -> Failures {
    let admit = |it: &CreatedTopic| throttle.mutate_untold(f64::from(it.partitions));
    let is_admitted = valid.iter().map(|it| it.as_ref().map_or(true, admit));
    let names = topics.iter().map(|it| it.name.clone()).zip(is_admitted);
    let refused: Failures =
        names.filter(|it| !it.1).map(|(name, _)| (name, ErrorCode::LeaderNotAvailable)).collect();
    topics.retain(|it| !refused.contains_key(&it.name));
    refused
}

fn new_topic(config: &Config, name: &TopicName) -> NewTopic {
    match name.as_str() {
        OFFSETS_TOPIC => offsets_topic(config, fresh_topic_id()),
        ALERTS_TOPIC => alerts_topic(fresh_topic_id()),
        _ => NewTopic {
            name: name.clone(),
            id: fresh_topic_id(),
            partitions: -1,
            replication_factor: -1,
            assignments: Vec::new(),
            configs: Vec::new(),
        },
    }
}

/// What lets a client ask again where that helps.
fn code(code: ErrorCode) -> ErrorCode {
    match code {
        ErrorCode::InvalidTopicException
        | ErrorCode::InvalidReplicationFactor
        | ErrorCode::InvalidRequest => code,
        _ => ErrorCode::LeaderNotAvailable,
    }
}
