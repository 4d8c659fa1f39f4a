//! `DescribeConfigs` (key 32), versions 1 to 4.
//!
//! | version | adds                         | source  |
//! |---------|------------------------------|---------|
//! | 1       | synonyms                     | KIP-226 |
//! | 3       | types and documentation      | KIP-569 |
//! | 4       | flexible encoding            | KIP-482 |
//!
//! Served for topics, groups, client-metrics subscriptions, this node and the defaults of all nodes.

use std::{collections::BTreeSet, ops::RangeInclusive};

use kafka_protocol::{
    messages::{
        DescribeConfigsRequest, DescribeConfigsResponse,
        describe_configs_request::DescribeConfigsResource,
        describe_configs_response::{
            DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
        },
    },
    protocol::StrBytes,
};

use super::{
    Context, Rooms,
    config_resource::{BROKER, CLIENT_METRICS, GROUP, TOPIC, unsupported},
    distinct::distinct,
    refusal::{Refusal, code_and_message},
};
use crate::{
    base::{ErrorCode, GroupId, TopicName},
    config::{
        self, Alterations, Config, SETTINGS, TopicConfigs, UpdateMode, client_metrics,
        topic::{self, ConfigSource, ConfigType, ConfigValue},
    },
    controller::validate_topic_name,
    metadata::{ConfigResource, MetadataImage},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=4;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DescribeConfigsRequest,
) -> DescribeConfigsResponse {
    answer(&rooms.config, &rooms.quorum.image(), context.api_version, &request)
}

/// One config, before it is known which version asks.
struct Described {
    /// The one in effect first.
    values: Vec<ConfigValue>,
    name: String,
    kind: ConfigType,
    doc: String,
    read_only: bool,
}

fn answer(
    config: &Config,
    image: &MetadataImage,
    version: i16,
    request: &DescribeConfigsRequest,
) -> DescribeConfigsResponse {
    let asked = request.resources.iter().collect();
    let asked = distinct(asked, |it| (it.resource_type, it.resource_name.clone()));
    let results = asked.into_iter().map(|resource| {
        let described = describe(config, image, resource);
        let (error_code, message) = code_and_message(&described);
        let configs = described
            .unwrap_or_default()
            .into_iter()
            .filter(|it| is_asked(resource, &it.name))
            .map(|it| entry(it, version, request))
            .collect();
        DescribeConfigsResult::default()
            .with_error_code(error_code)
            // Kafka says nothing, which is not null.
            .with_error_message(Some(message.unwrap_or_default()))
            .with_resource_type(resource.resource_type)
            .with_resource_name(resource.resource_name.clone())
            .with_configs(configs)
    });
    DescribeConfigsResponse::default().with_results(results.collect())
}

/// No keys, or an empty list of them, ask for all.
fn is_asked(resource: &DescribeConfigsResource, name: &str) -> bool {
    let keys = resource.configuration_keys.as_deref().unwrap_or_default();
    keys.is_empty() || keys.iter().any(|it| &**it == name)
}

fn describe(
    config: &Config,
    image: &MetadataImage,
    resource: &DescribeConfigsResource,
) -> Result<Vec<Described>, Refusal> {
    let name = &*resource.resource_name;
    match resource.resource_type {
        TOPIC => describe_topic(config, image, &name.into()),
        BROKER if name.is_empty() => Ok(describe_all_brokers(image)),
        BROKER => describe_broker(config, image, name),
        CLIENT_METRICS => describe_client_metrics(image, name),
        GROUP => describe_group(config, image, &name.into()),
        other => Err(unsupported(other)),
    }
}

fn describe_topic(
    config: &Config,
    image: &MetadataImage,
    name: &TopicName,
) -> Result<Vec<Described>, Refusal> {
    validate_topic_name(name.as_str())?;
    if !image.topics.contains_key(name) {
        return Err(Refusal::new(
            ErrorCode::UnknownTopicOrPartition,
            format!("The topic '{name}' does not exist."),
        ));
    }
    let none = TopicConfigs::new();
    let own = image.topic_configs(name).map_or(&none, |it| it);
    let describe = |it: topic::EffectiveConfig| Described {
        values: it.values,
        name: it.definition.name.into(),
        kind: it.definition.kind,
        doc: it.definition.doc.into(),
        read_only: false,
    };
    Ok(topic::effective_configs(config, image.alterations(config.node.id), name, own)
        .into_iter()
        .map(describe)
        .collect())
}

/// What is altered of all nodes' settings, and nothing else, as in Kafka.
fn describe_all_brokers(image: &MetadataImage) -> Vec<Described> {
    let none = TopicConfigs::new();
    let altered = image.configs.get(&ConfigResource::Broker(None)).map_or(&none, |it| it);
    let describe = |(name, value): (&String, &String)| {
        let source = ConfigSource::DynamicDefaultBroker;
        let values = vec![ConfigValue { name: name.clone(), value: value.clone(), source }];
        let (kind, doc) = kind_and_doc(name);
        Described { values, name: name.clone(), kind, doc: doc.into(), read_only: false }
    };
    altered.iter().map(describe).collect()
}

fn describe_broker(
    config: &Config,
    image: &MetadataImage,
    name: &str,
) -> Result<Vec<Described>, Refusal> {
    let id: i32 = name.parse().map_err(|_| {
        Refusal::invalid_request(format!("Broker id must be an integer, but it is: {name}"))
    })?;
    if id != config.node.id.0 {
        return Err(Refusal::invalid_request(format!(
            "Unexpected broker id, expected {} or empty string, but received {name}",
            config.node.id.0
        )));
    }
    Ok(settings(config, image.alterations(config.node.id)))
}

/// This node's settings, the defaults of topic configs, and what was altered of those without a meaning here.
fn settings(config: &Config, alterations: Alterations<'_>) -> Vec<Described> {
    let defaults = Config::default();
    let own = SETTINGS.iter().map(|setting| {
        let in_file = Some(setting.value(config)).filter(|it| *it != setting.value(&defaults));
        let default = Some(setting.value(&defaults));
        setting_of(setting.key, setting_values(setting.key, alterations, in_file, default))
    });
    let topic_defaults = topic::DEFINITIONS.iter().filter_map(|it| {
        let setting = it.synonyms.first()?.name;
        Some(setting_of(setting, topic::broker_values(&config.topic_defaults, alterations, it)))
    });
    let known: Vec<_> = own.chain(topic_defaults).collect();
    let altered = [alterations.node, alterations.cluster].into_iter().flatten();
    let others: BTreeSet<&String> = altered
        .flat_map(|it| it.keys())
        .filter(|it| known.iter().all(|known| known.name != **it))
        .collect();
    let others = others
        .into_iter()
        .map(|it| setting_of(it, setting_values(it, alterations, None, None)))
        .collect::<Vec<_>>();
    known.into_iter().chain(others).collect()
}

/// The value in effect first. What equals its default counts as not set: the file may say the same.
fn setting_values(
    name: &str,
    alterations: Alterations<'_>,
    in_file: Option<String>,
    default: Option<String>,
) -> Vec<ConfigValue> {
    let altered = |layer: Option<&TopicConfigs>| layer.and_then(|it| it.get(name)).cloned();
    let layers = [
        (altered(alterations.node), ConfigSource::DynamicBroker),
        (altered(alterations.cluster), ConfigSource::DynamicDefaultBroker),
        (in_file, ConfigSource::StaticBroker),
        (default, ConfigSource::Default),
    ];
    let values = layers.into_iter().filter_map(|(value, source)| {
        Some(ConfigValue { name: name.into(), value: value?, source })
    });
    values.collect()
}

fn setting_of(name: &str, values: Vec<ConfigValue>) -> Described {
    let (kind, doc) = kind_and_doc(name);
    let read_only = config::update_mode(name) == UpdateMode::ReadOnly;
    Described { values, name: name.into(), kind, doc: doc.into(), read_only }
}

fn kind_and_doc(setting: &str) -> (ConfigType, &'static str) {
    let own = SETTINGS.iter().find(|it| it.key == setting).map(|it| (it.kind, it.doc));
    let is_default_of =
        |it: &&topic::Definition| it.synonyms.first().is_some_and(|it| it.name == setting);
    let topics = || topic::DEFINITIONS.iter().find(is_default_of).map(|it| (it.kind, it.doc));
    own.or_else(topics)
        .unwrap_or((ConfigType::String, "A setting of Kafka's without a meaning here."))
}

/// What is set, and nothing of a subscription that is not there, as in Kafka.
/// A subscription that there is not has the defaults, as in Kafka.
fn describe_client_metrics(image: &MetadataImage, name: &str) -> Result<Vec<Described>, Refusal> {
    if name.is_empty() {
        let reason = "Client metrics subscription name must not be empty";
        return Err(Refusal::invalid_request(reason));
    }
    let own = image.configs.get(&ConfigResource::ClientMetrics(name.into()));
    let describe = |it: &client_metrics::Definition| {
        let (value, source) = match own.and_then(|own| own.get(it.name)) {
            Some(value) => (value.as_str(), ConfigSource::ClientMetrics),
            None => (it.default, ConfigSource::Default),
        };
        Described {
            values: vec![ConfigValue { name: it.name.into(), value: value.into(), source }],
            name: it.name.into(),
            kind: it.kind,
            doc: it.doc.into(),
            read_only: false,
        }
    };
    Ok(client_metrics::DEFINITIONS.iter().map(describe).collect())
}

fn describe_group(
    config: &Config,
    image: &MetadataImage,
    group: &GroupId,
) -> Result<Vec<Described>, Refusal> {
    if group.as_str().is_empty() {
        return Err(Refusal::invalid_request("Group name must not be empty"));
    }
    let own = image.group_configs(group).map(AsRef::as_ref);
    let pattern = config.group_patterns.find(group.as_str());
    let describe = |it: &config::group::Definition| {
        let value =
            |layer: Option<&TopicConfigs>| layer.and_then(|layer| layer.get(it.name)).cloned();
        let layers = [
            (value(own), ConfigSource::Group),
            (value(pattern), ConfigSource::StaticBroker),
            (Some((it.default)(&config.group)), ConfigSource::Default),
        ];
        let values = layers.into_iter().filter_map(|(value, source)| {
            Some(ConfigValue { name: it.name.into(), value: value?, source })
        });
        Described {
            values: values.collect(),
            name: it.name.into(),
            kind: it.kind,
            doc: it.doc.into(),
            read_only: false,
        }
    };
    Ok(config::group::DEFINITIONS.iter().map(describe).collect())
}

fn entry(
    config: Described,
    version: i16,
    request: &DescribeConfigsRequest,
) -> DescribeConfigsResourceResult {
    let text = |it: &str| StrBytes::from_string(it.to_owned());
    let (value, source) = match config.values.first() {
        Some(it) => (Some(text(&it.value)), it.source),
        None => (None, ConfigSource::Default),
    };
    let synonyms = topic::synonyms(&config.values).filter(|_| request.include_synonyms).map(|it| {
        DescribeConfigsSynonym::default()
            .with_name(text(&it.name))
            .with_value(Some(text(&it.value)))
            .with_source(it.source as i8)
    });
    let entry = DescribeConfigsResourceResult::default()
        .with_name(text(&config.name))
        .with_value(value)
        .with_read_only(config.read_only)
        .with_config_source(source as i8)
        .with_synonyms(synonyms.collect())
        .with_documentation(None);
    if version < 3 {
        return entry;
    }
    let doc = request.include_documentation.then(|| text(&config.doc));
    entry.with_config_type(config_type(config.kind)).with_documentation(doc)
}

/// Numbers of `DescribeConfigsResponse.ConfigType`.
fn config_type(kind: ConfigType) -> i8 {
    match kind {
        ConfigType::Boolean => 1,
        ConfigType::String => 2,
        ConfigType::Int => 3,
        ConfigType::Long => 5,
        ConfigType::Double => 6,
        ConfigType::List => 7,
    }
}

#[cfg(test)]
mod tests;
