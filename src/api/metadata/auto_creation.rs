//! Topics that come into being because a client asks for them.

use std::collections::BTreeMap;

use super::Asked;
use crate::{
    api::metadata_change::{MetadataChange, fresh_topic_id},
    base::{ErrorCode, TopicName},
    config::Config,
    controller::{
        ALERTS_TOPIC, LoadedPlugins, NewTopic, OFFSETS_TOPIC, alerts_topic, offsets_topic,
        validate_topic_name,
    },
};

/// Why topics that are not there could not be created.
pub(super) type Failures = BTreeMap<TopicName, ErrorCode>;

/// Creates what is asked for by name and does not exist.
pub(super) async fn create_missing(change: &MetadataChange<'_>, asked: &[Asked]) -> Failures {
    let image = change.quorum.image();
    let topics: Vec<NewTopic> = asked
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
    let results = change.create_topics(&LoadedPlugins::default(), &topics).await;
    let failures = topics
        .into_iter()
        .zip(results)
        .filter_map(|(topic, result)| Some((topic.name, code(result.err()?.code))));
    failures.collect()
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
