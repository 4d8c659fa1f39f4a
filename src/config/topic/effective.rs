//! Where a topic config's value comes from: the topic, a pattern of the file, the node's settings, or Kafka's default.

use super::{DEFINITIONS, Definition, TopicConfigs};
use crate::{
    base::TopicName,
    config::{Alterations, Config, group},
};

/// Who set a value, as `DescribeConfigs` numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigSource {
    Topic = 1,
    DynamicBroker = 2,
    DynamicDefaultBroker = 3,
    StaticBroker = 4,
    Default = 5,
    ClientMetrics = 7,
    Group = 8,
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigValue {
    /// The config's name, or that of the broker setting.
    pub name: String,
    pub value: String,
    pub source: ConfigSource,
}

/// A config of a topic: its values, the one in effect first; the last is the default.
#[derive(Clone, Debug)]
pub struct EffectiveConfig {
    pub definition: &'static Definition,
    pub values: Vec<ConfigValue>,
}

/// Looks values up, the strongest first.
pub(super) struct Layers<'a> {
    own: &'a TopicConfigs,
    pattern: Option<&'a TopicConfigs>,
    node: &'a TopicConfigs,
}

impl<'a> Layers<'a> {
    pub(super) fn new(config: &'a Config, topic: &TopicName, own: &'a TopicConfigs) -> Self {
        let pattern = config.topic_patterns.find(topic.as_str());
        Self {
            own,
            pattern: pattern.filter(|_| !topic.is_internal()),
            node: &config.topic_defaults,
        }
    }

    /// Values that are set, without the default.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        [Some(self.own), self.pattern, Some(self.node)]
            .map(|layer| layer.and_then(|it| it.get(name)))
            .into_iter()
            .flatten()
            .map(String::as_str)
    }
}

/// All configs of a topic but those for tests, sorted by name.
pub fn effective_configs(
    config: &Config,
    alterations: Alterations<'_>,
    topic: &TopicName,
    own: &TopicConfigs,
) -> Vec<EffectiveConfig> {
    let layers = Layers::new(config, topic, own);
    let is_shown =
        |it: &&Definition| !it.name.starts_with("internal.") || own.contains_key(it.name);
    let mut configs: Vec<_> = DEFINITIONS
        .iter()
        .filter(is_shown)
        .map(|definition| EffectiveConfig {
            definition,
            values: values(&layers, alterations, definition),
        })
        .collect();
    configs.sort_by_key(|it| it.definition.name);
    configs
}

fn values(
    layers: &Layers<'_>,
    alterations: Alterations<'_>,
    definition: &Definition,
) -> Vec<ConfigValue> {
    let name = definition.name;
    let set = |layer: Option<&TopicConfigs>, source, name: &str| {
        let value = layer?.get(definition.name)?.clone();
        Some(ConfigValue { name: name.into(), value, source })
    };
    let own = [
        set(Some(layers.own), ConfigSource::Topic, name),
        set(layers.pattern, ConfigSource::StaticBroker, name),
    ];
    own.into_iter().flatten().chain(broker_values(layers.node, alterations, definition)).collect()
}

/// Settings that have no default of their own in Kafka, with the setting that has it and its value there.
const DEFAULTS_ELSEWHERE: [(&str, &str, &str); 4] = [
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms", "9223372036854775807"),
    ("log.retention.ms", "log.retention.hours", "168"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours", "0"),
    ("log.roll.ms", "log.roll.hours", "168"),
];

/// Values as Kafka lists them beside the one in effect (KIP-226): a default is told where a node's setting has it; that of another
/// setting only behind a value of the setting that is meant.
pub fn synonyms(values: &[ConfigValue]) -> impl Iterator<Item = ConfigValue> {
    values.iter().filter_map(|it| match it.source {
        ConfigSource::Default => default_synonym(values, it),
        _ => Some(it.clone()),
    })
}

fn default_synonym(values: &[ConfigValue], default: &ConfigValue) -> Option<ConfigValue> {
    let is_without_setting =
        DEFINITIONS.iter().any(|it| it.name == default.name && it.synonyms.is_empty())
            || group::DEFINITIONS.iter().any(|it| it.name == default.name);
    if is_without_setting {
        return None;
    }
    let Some(&(_, name, value)) =
        DEFAULTS_ELSEWHERE.iter().find(|(setting, ..)| *setting == default.name)
    else {
        return Some(default.clone());
    };
    let is_set = values.iter().filter(|it| it.name == default.name).count() > 1;
    is_set.then(|| ConfigValue { name: name.into(), value: value.into(), source: default.source })
}

/// The values that a node's settings give a topic config, the one in effect first; the last is the default.
pub fn broker_values(
    file: &TopicConfigs,
    alterations: Alterations<'_>,
    definition: &Definition,
) -> Vec<ConfigValue> {
    let setting = definition.synonyms.first().map_or(definition.name, |it| it.name);
    let value_of =
        |value: &str, source| ConfigValue { name: setting.into(), value: value.into(), source };
    let altered = |layer: Option<&TopicConfigs>, source| {
        layer.and_then(|it| it.get(setting)).map(|it| value_of(it, source))
    };
    [
        altered(alterations.node, ConfigSource::DynamicBroker),
        altered(alterations.cluster, ConfigSource::DynamicDefaultBroker),
        file.get(definition.name).map(|it| value_of(it, ConfigSource::StaticBroker)),
        Some(value_of(definition.default, ConfigSource::Default)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
