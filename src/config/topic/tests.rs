//! A topic's own configs win over the pattern's, these over the node's, these over Kafka's defaults.

mod of_kafka;

use super::*;
use crate::config::{Alterations, Pattern, Patterns};

fn configs(pairs: &[(&str, &str)]) -> TopicConfigs {
    pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect()
}

fn node() -> Config {
    let settings = configs(&[("retention.ms", "2"), ("klamm.transforms", "log-alert")]);
    Config {
        topic_defaults: configs(&[("retention.ms", "3"), ("segment.ms", "3")]),
        topic_patterns: Patterns(vec![Pattern { pattern: "*".into(), settings }]),
        ..Config::default()
    }
}

#[test]
fn the_defaults_are_kafkas() {
    let config = TopicConfig::resolve(&Config::default(), &"t".into(), &TopicConfigs::new());
    assert_eq!(config.cleanup_policy, CleanupPolicy { delete: true, compact: false });
    assert_eq!(config.compression_type, None);
    assert_eq!(config.max_message_bytes, 1_048_588);
    assert_eq!(config.retention_ms, 604_800_000);
    assert_eq!(config.retention_bytes, -1);
    assert_eq!(config.segment_bytes, 1 << 30);
    assert_eq!(config.timestamp_after_max_ms, 3_600_000);
    assert_eq!(config.timestamp_before_max_ms, i64::MAX);
    assert!(!config.has_hooks());
}

#[test]
fn the_strongest_layer_wins() {
    let resolve = |own: &[(&str, &str)]| {
        let it = TopicConfig::resolve(&node(), &"t".into(), &configs(own));
        (it.retention_ms, it.segment_ms)
    };
    assert_eq!(resolve(&[("retention.ms", "1")]), (1, 3));
    assert_eq!(resolve(&[]), (2, 3));
}

#[test]
fn patterns_and_hooks_never_reach_internal_topics() {
    let own = configs(&[("klamm.partitioner", "random")]);
    let internal = TopicConfig::resolve(&node(), &"__consumer_offsets".into(), &own);
    assert_eq!(internal.retention_ms, 3);
    assert!(!internal.has_hooks());
    let user = TopicConfig::resolve(&node(), &"t".into(), &own);
    assert_eq!(user.partitioner, Some("random".into()));
    assert_eq!(user.transforms, ["log-alert".into()]);
}

#[test]
fn a_bad_value_reads_as_that_of_the_next_layer() {
    let own = configs(&[("retention.ms", "soon"), ("segment.bytes", "-5")]);
    let config = TopicConfig::resolve(&node(), &"t".into(), &own);
    assert_eq!((config.retention_ms, config.segment_bytes), (2, 1 << 30));
}

#[test]
fn an_own_empty_list_of_transforms_ends_the_patterns() {
    let own = configs(&[("klamm.transforms", "")]);
    assert!(TopicConfig::resolve(&node(), &"t".into(), &own).transforms.is_empty());
}

#[test]
fn a_list_ignores_space_and_empty_items() {
    assert_eq!(list(" a, ,b,").collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn values_are_listed_from_the_one_in_effect_to_the_default() {
    let own = configs(&[("retention.ms", "1")]);
    let effective = effective_configs(&node(), Alterations::default(), &"t".into(), &own);
    let retention = effective.iter().find(|it| it.definition.name == "retention.ms").unwrap();
    let values: Vec<_> = retention
        .values
        .iter()
        .map(|it| (it.name.as_str(), it.value.as_str(), it.source))
        .collect();
    assert_eq!(
        values,
        [
            ("retention.ms", "1", ConfigSource::Topic),
            ("retention.ms", "2", ConfigSource::StaticBroker),
            ("log.retention.ms", "3", ConfigSource::StaticBroker),
            ("log.retention.ms", "604800000", ConfigSource::Default),
        ]
    );
    assert!(!effective.iter().any(|it| it.definition.name == "internal.segment.bytes"));
}
