//! From an image and a configuration.

use uuid::Uuid;

use super::*;
use crate::{
    api::test_node::encodes,
    base::{BrokerId, TopicId},
    metadata::{ConfigResource, MetadataRecord},
};

fn image() -> MetadataImage {
    let mut image = MetadataImage::default();
    let topic_id = TopicId(Uuid::from_u128(1));
    image.replay(&MetadataRecord::Topic { topic_id, name: "t".into() });
    for (resource, name, value) in [
        (ConfigResource::Topic("t".into()), "retention.ms", "1"),
        (ConfigResource::Group("g".into()), "klamm.assignor", "sticky"),
        (ConfigResource::Broker(None), "log.segment.bytes", "2000000"),
        (ConfigResource::Broker(None), "num.io.threads", "4"),
        (ConfigResource::Broker(Some(BrokerId(1))), "log.segment.bytes", "3000000"),
        (ConfigResource::ClientMetrics("s".into()), "interval.ms", "100"),
    ] {
        let value = Some(value.into());
        image.replay(&MetadataRecord::Config { resource, name: name.into(), value });
    }
    image
}

fn config() -> Config {
    let mut config = Config::default();
    config.topic_defaults.insert("retention.ms".into(), "2".into());
    config.node.num_partitions = 7;
    config
}

fn ask(kind: i8, name: &'static str, keys: &[&'static str]) -> DescribeConfigsRequest {
    let keys = keys.iter().map(|it| StrBytes::from_static_str(it)).collect();
    DescribeConfigsRequest::default().with_include_synonyms(true).with_resources(vec![
        DescribeConfigsResource::default()
            .with_resource_type(kind)
            .with_resource_name(StrBytes::from_static_str(name))
            .with_configuration_keys(Some(keys)),
    ])
}

fn one(request: &DescribeConfigsRequest) -> DescribeConfigsResult {
    answer(&config(), &image(), 4, request).results.remove(0)
}

#[test]
fn a_resource_that_is_named_again_and_again_is_described_once() {
    let mut request = ask(TOPIC, "t", &[]);
    request.resources = vec![request.resources.remove(0); 1_000];
    request.resources.extend(ask(GROUP, "t", &[]).resources);
    let kinds: Vec<i8> = answer(&config(), &image(), 4, &request)
        .results
        .iter()
        .map(|it| it.resource_type)
        .collect();
    assert_eq!(kinds, [TOPIC, GROUP]);
}

/// Name, value and source of each config, and its synonyms'.
fn entries(request: &DescribeConfigsRequest) -> Vec<String> {
    let show = |name: &str, value: &Option<StrBytes>, source: i8| {
        format!("{name}={} from {source}", value.as_deref().unwrap_or("null"))
    };
    one(request)
        .configs
        .iter()
        .flat_map(|it| {
            let synonyms = it.synonyms.iter().map(|it| show(&it.name, &it.value, it.source));
            [show(&it.name, &it.value, it.config_source)]
                .into_iter()
                .chain(synonyms)
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn everything_is_described_at_every_version() {
    for version in VERSIONS {
        for (kind, name) in
            [(TOPIC, "t"), (BROKER, "1"), (GROUP, "g"), (BROKER, ""), (CLIENT_METRICS, "s")]
        {
            let request = ask(kind, name, &[]).with_include_documentation(version >= 3);
            let response = answer(&config(), &image(), version, &request);
            encodes(&response, version);
            let result = &response.results[0];
            assert_eq!(
                (result.error_code, result.error_message.as_deref()),
                (0, Some("")),
                "{name}"
            );
            assert!(!result.configs.is_empty(), "{kind} {name}");
            let documented = result.configs.iter().all(|it| it.documentation.is_some());
            assert_eq!(documented, version >= 3);
        }
    }
}

#[test]
fn a_topics_value_comes_with_what_it_overrides() {
    assert_eq!(
        entries(&ask(TOPIC, "t", &["retention.ms", "nothing"])),
        [
            "retention.ms=1 from 1",
            "retention.ms=1 from 1",
            "log.retention.ms=2 from 4",
            "log.retention.hours=168 from 5"
        ]
    );
}

#[test]
fn a_default_is_told_where_kafka_has_it() {
    let told = |kind, name| entries(&ask(kind, if kind == TOPIC { "t" } else { "1" }, &[name]));
    // In effect, and no synonym: Kafka has it in hours, as the default of another setting, or of no setting.
    assert_eq!(told(TOPIC, "segment.ms"), ["segment.ms=604800000 from 5"]);
    assert_eq!(told(BROKER, "log.roll.ms"), ["log.roll.ms=604800000 from 5"]);
    assert_eq!(told(TOPIC, "flush.ms"), ["flush.ms=9223372036854775807 from 5"]);
    assert_eq!(told(TOPIC, "remote.storage.enable"), ["remote.storage.enable=false from 5"]);
    assert_eq!(
        told(TOPIC, "preallocate"),
        ["preallocate=false from 5", "log.preallocate=false from 5"]
    );
}

#[test]
fn a_node_tells_which_settings_are_its_own() {
    let num_partitions = entries(&ask(BROKER, "1", &["num.partitions"]));
    assert_eq!(num_partitions[0], "num.partitions=7 from 4");
    assert_eq!(entries(&ask(BROKER, "1", &["log.retention.ms"]))[0], "log.retention.ms=2 from 4");
    assert_eq!(entries(&ask(BROKER, "1", &["node.id"]))[0], "node.id=1 from 5");
    let read_only = |name| one(&ask(BROKER, "1", &[name])).configs[0].read_only;
    assert!(read_only("node.id"));
    assert!(!read_only("log.retention.ms"));
}

#[test]
fn what_was_altered_comes_before_the_file_and_a_nodes_own_before_the_clusters() {
    let layers = [
        "log.segment.bytes=3000000 from 2",
        "log.segment.bytes=3000000 from 2",
        "log.segment.bytes=2000000 from 3",
        "log.segment.bytes=1073741824 from 5",
    ];
    assert_eq!(entries(&ask(BROKER, "1", &["log.segment.bytes"])), layers);
    let of_topic = entries(&ask(TOPIC, "t", &["segment.bytes"]));
    assert_eq!(of_topic[0], "segment.bytes=3000000 from 2");
    assert_eq!(of_topic[1..], layers[1..]);
    assert_eq!(entries(&ask(BROKER, "1", &["num.io.threads"]))[0], "num.io.threads=4 from 3");
    let all_brokers = entries(&ask(BROKER, "", &[]));
    assert_eq!(all_brokers[0], "log.segment.bytes=2000000 from 3");
    assert_eq!(all_brokers[2], "num.io.threads=4 from 3");
}

#[test]
fn a_subscription_tells_what_is_set() {
    assert_eq!(entries(&ask(CLIENT_METRICS, "s", &[]))[0], "interval.ms=100 from 7");
    let defaults = one(&ask(CLIENT_METRICS, "absent", &[])).configs;
    let defaults = defaults.iter().map(|it| (&*it.name, it.value.as_deref(), it.config_source));
    let [interval, matches, metrics] = ["interval.ms", "match", "metrics"];
    let want = [(interval, Some("300000"), 5), (matches, Some(""), 5), (metrics, Some(""), 5)];
    assert!(defaults.eq(want));
}

#[test]
fn a_group_tells_its_configs_with_the_nodes_settings_as_defaults() {
    let assignor = "klamm.assignor=sticky from 8";
    let times =
        ["consumer.heartbeat.interval.ms=5000 from 5", "consumer.session.timeout.ms=45000 from 5"];
    // As in Kafka, a default is no synonym.
    assert_eq!(entries(&ask(GROUP, "g", &[])), [times[0], times[1], assignor, assignor]);
    assert_eq!(entries(&ask(GROUP, "h", &[])), [times[0], times[1], "klamm.assignor= from 5"]);
}

#[test]
fn what_cannot_be_described_is_refused() {
    for (kind, name, code) in [
        (TOPIC, "absent", ErrorCode::UnknownTopicOrPartition),
        (TOPIC, "bad name", ErrorCode::InvalidTopicException),
        (BROKER, "2", ErrorCode::InvalidRequest),
        (BROKER, "x", ErrorCode::InvalidRequest),
        (GROUP, "", ErrorCode::InvalidRequest),
        (CLIENT_METRICS, "", ErrorCode::InvalidRequest),
        (8, "1", ErrorCode::InvalidRequest),
        (99, "1", ErrorCode::InvalidRequest),
    ] {
        let result = one(&ask(kind, name, &[]));
        assert_eq!(result.error_code, code.code(), "{kind} {name}");
        assert!(result.error_message.is_some_and(|it| !it.is_empty()));
    }
}
