//! `CreateTopics` (key 19), versions 2 to 7.
//!
//! | version | adds                                                     | source  |
//! |---------|----------------------------------------------------------|---------|
//! | 4       | −1 for the default numbers                               | KIP-464 |
//! | 5       | the created topic's numbers and configs; flexible        | KIP-525 |
//! | 6       | a quota that is used up, as an error                     | KIP-599 |
//! | 7       | the topic's id                                           | KIP-516 |
//!
//! The answer comes when the partitions can be produced to, or after the request's timeout with `REQUEST_TIMED_OUT`; the topics
//! are created in any case.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        CreateTopicsRequest, CreateTopicsResponse,
        create_topics_request::CreatableTopic,
        create_topics_response::{CreatableTopicConfigs, CreatableTopicResult},
    },
    protocol::StrBytes,
};

use super::{
    Context, Rooms,
    metadata_change::{MetadataChange, fresh_topic_id, loaded_plugins},
    mutations::{Mutations, in_order, retain_admitted},
    refusal::{Refusal, code_and_message, sentence},
};
use crate::{
    base::BrokerId,
    config::{Alterations, Config, topic},
    controller::{CreatedTopic, LoadedPlugins, NewTopic},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 2..=7;

/// The first version that is told of a quota by an error (KIP-599).
const QUOTA_ERROR_SINCE: i16 = 6;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: CreateTopicsRequest,
) -> CreateTopicsResponse {
    let change = MetadataChange::new(rooms, request.validate_only, request.timeout_ms);
    answer_within_quota(&change, &loaded_plugins(&rooms.plugins), context, request).await
}

async fn answer_within_quota(
    change: &MetadataChange<'_>,
    plugins: &LoadedPlugins,
    context: &Context,
    mut request: CreateTopicsRequest,
) -> CreateTopicsResponse {
    let version = context.api_version;
    let Some(mut mutations) = Mutations::of(context, QUOTA_ERROR_SINCE) else {
        return answer(change, plugins, version, &request).await;
    };
    let asked: Vec<NewTopic> = request.topics.iter().map(new_topic).collect();
    let valid = change.validating().create_topics(plugins, &asked).await;
    let partitions = |it: &CreatedTopic| usize::try_from(it.partitions).unwrap_or(0);
    let admissions = mutations.admit(valid.iter().map(|it| it.as_ref().ok().map(partitions)));
    let all = request.topics.clone();
    retain_admitted(&mut request.topics, &mut admissions.iter().map(Result::is_ok));
    let mut response = answer(change, plugins, version, &request).await;
    response.topics = in_order(&all, &admissions, response.topics, refusal);
    response.with_throttle_time_ms(mutations.throttle_time_ms())
}

fn refusal(topic: &CreatableTopic, refusal: &Refusal) -> CreatableTopicResult {
    CreatableTopicResult::default()
        .with_name(topic.name.clone())
        .with_error_code(refusal.code.code())
        .with_error_message(Some(sentence(&*refusal.message)))
}

async fn answer(
    change: &MetadataChange<'_>,
    plugins: &LoadedPlugins,
    version: i16,
    request: &CreateTopicsRequest,
) -> CreateTopicsResponse {
    let topics: Vec<NewTopic> = request.topics.iter().map(new_topic).collect();
    let results = change.create_topics(plugins, &topics).await;
    let image = change.quorum.image();
    let node = (change.config, image.alterations(change.config.node.id));
    let results = topics.iter().zip(results).map(|(topic, it)| result(node, version, topic, it));
    CreateTopicsResponse::default().with_topics(results.collect())
}

fn new_topic(topic: &CreatableTopic) -> NewTopic {
    let assignments = topic
        .assignments
        .iter()
        .map(|it| (it.partition_index, it.broker_ids.iter().map(|id| BrokerId(id.0)).collect()));
    let configs = topic
        .configs
        .iter()
        .map(|it| (it.name.to_string(), it.value.as_ref().map(ToString::to_string)));
    NewTopic {
        name: (&*topic.name.0).into(),
        id: fresh_topic_id(),
        partitions: topic.num_partitions,
        replication_factor: topic.replication_factor,
        assignments: assignments.collect(),
        configs: configs.collect(),
    }
}

/// A node's settings, and what is altered of them: the defaults of topic configs.
type Node<'a> = (&'a Config, Alterations<'a>);

fn result(
    node: Node<'_>,
    version: i16,
    topic: &NewTopic,
    created: Result<CreatedTopic, Refusal>,
) -> CreatableTopicResult {
    let (error_code, message) = code_and_message(&created);
    let result = CreatableTopicResult::default()
        .with_name(StrBytes::from_string(topic.name.to_string()).into())
        .with_error_code(error_code)
        .with_error_message(message);
    let Ok(created) = created else { return result };
    // What was only checked has no id; older versions have no room for the rest.
    let result = match version {
        7.. => result.with_topic_id(created.id.0),
        _ => result,
    };
    if version < 5 {
        return result;
    }
    result
        .with_num_partitions(created.partitions)
        .with_replication_factor(created.replication_factor)
        .with_configs(Some(configs(node, topic, &created)))
}

fn configs(
    (config, alterations): Node<'_>,
    topic: &NewTopic,
    created: &CreatedTopic,
) -> Vec<CreatableTopicConfigs> {
    let configs = topic::effective_configs(config, alterations, &topic.name, &created.configs);
    let entry = |it: topic::EffectiveConfig| {
        let value = it.values.first()?;
        Some(
            CreatableTopicConfigs::default()
                .with_name(StrBytes::from_static_str(it.definition.name))
                .with_value(Some(StrBytes::from_string(value.value.clone())))
                .with_config_source(value.source as i8),
        )
    };
    configs.into_iter().filter_map(entry).collect()
}

#[cfg(test)]
mod tests;
