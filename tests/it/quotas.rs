//! Quotas, and limits that are altered while the node runs, as clients meet them: over the wire.

use std::time::{Duration, Instant};

use kafka_protocol::{
    messages::{
        AlterClientQuotasRequest, DescribeClientQuotasRequest, DescribeConfigsRequest,
        FetchRequest, FetchResponse, MetadataRequest,
        alter_client_quotas_request::{EntityData, EntryData, OpData},
        describe_client_quotas_request::ComponentData,
        describe_configs_request::DescribeConfigsResource,
        fetch_request::{FetchPartition, FetchTopic},
    },
    protocol::StrBytes,
};

use crate::support::{Broker, Client, batch, eventually};

fn text(it: &str) -> StrBytes {
    StrBytes::from_string(it.to_owned())
}

/// `None` removes a quota.
#[track_caller]
fn set_quota(client: &mut Client, (of, name): (&str, &str), key: &str, value: Option<f64>) {
    let entity =
        EntityData::default().with_entity_type(text(of)).with_entity_name(Some(text(name)));
    let op = OpData::default()
        .with_key(text(key))
        .with_value(value.unwrap_or(0.0))
        .with_remove(value.is_none());
    let entry = EntryData::default().with_entity(vec![entity]).with_ops(vec![op]);
    let response = client.call(1, &AlterClientQuotasRequest::default().with_entries(vec![entry]));
    assert_eq!(response.entries[0].error_code, 0, "{:?}", response.entries[0].error_message);
}

/// The quotas of a type of entity: name, key and value.
fn quotas(client: &mut Client, of: &str) -> Vec<(String, String, f64)> {
    let any =
        ComponentData::default().with_entity_type(text(of)).with_match_type(2).with_match(None);
    let request = DescribeClientQuotasRequest::default().with_components(vec![any]);
    let entries = client.call(1, &request).entries.unwrap();
    let quota = |it: &kafka_protocol::messages::describe_client_quotas_response::EntryData| {
        let name = it.entity[0].entity_name.as_ref().map(ToString::to_string);
        (name.unwrap_or_default(), it.values[0].key.to_string(), it.values[0].value)
    };
    entries.iter().map(quota).collect()
}

const IT: (&str, &str) = ("client-id", "it");

#[test]
fn a_client_that_takes_more_time_than_it_may_is_told_and_not_read_for_as_long() {
    let broker = Broker::start();
    let mut client = broker.client();
    // A millionth of a thread: whatever it asks is too much.
    set_quota(&mut client, IT, "request_percentage", Some(0.0001));
    assert_eq!(
        quotas(&mut client, "client-id"),
        [("it".into(), "request_percentage".into(), 0.0001)]
    );
    let mut held = broker.client();
    let (before, told) = eventually("a throttled answer", || {
        let before = Instant::now();
        let told = held.call(12, &MetadataRequest::default()).throttle_time_ms;
        (told > 0).then_some((before, told))
    });
    assert!(told <= 1_000, "{told}: no longer than a window");
    held.call(12, &MetadataRequest::default());
    assert!(before.elapsed() >= Duration::from_millis(told as u64));
    assert!(broker.metric("klamm_throttled_requests_total{quota=\"request_percentage\"}") > 0.0);
    assert!(broker.metric("klamm_quota_request_seconds_total{exempt=\"false\"}") > 0.0);

    set_quota(&mut client, IT, "request_percentage", None);
    assert_eq!(held.call(12, &MetadataRequest::default()).throttle_time_ms, 0);
}

/// A request of a fetch session for the first partition of `t`.
fn fetch(
    client: &mut Client,
    (session_id, epoch): (i32, i32),
    offset: Option<i64>,
) -> FetchResponse {
    let topic = |offset| {
        let partition =
            FetchPartition::default().with_fetch_offset(offset).with_partition_max_bytes(1 << 20);
        FetchTopic::default().with_topic(text("t").into()).with_partitions(vec![partition])
    };
    let request = FetchRequest::default()
        .with_max_bytes(1 << 20)
        .with_session_id(session_id)
        .with_session_epoch(epoch)
        .with_topics(offset.map(topic).into_iter().collect());
    client.call(12, &request)
}

fn records(response: &FetchResponse) -> usize {
    let partitions = response.responses.iter().flat_map(|it| &it.partitions);
    partitions.filter_map(|it| it.records.as_ref()).map(bytes::Bytes::len).sum()
}

#[test]
fn a_fetch_above_its_quota_brings_nothing_and_its_session_goes_on() {
    let broker = Broker::start();
    let mut admin = broker.client();
    admin.create_topic("t", 1, &[]);
    for _ in 0..3 {
        admin.must_produce("t", 0, batch(&[(None, Some(&"x".repeat(600)))]));
    }
    // Ten seconds' worth is one batch, and not two.
    set_quota(&mut admin, IT, "consumer_byte_rate", Some(100.0));
    let mut client = broker.client();
    let first = fetch(&mut client, (0, 0), Some(0));
    assert_eq!((first.error_code, first.throttle_time_ms), (0, 0));
    assert!((600..1_000).contains(&records(&first)) && first.session_id > 0);
    let throttled = fetch(&mut client, (first.session_id, 1), Some(1));
    assert!(throttled.throttle_time_ms > 0);
    assert_eq!((throttled.error_code, throttled.session_id), (0, first.session_id));
    assert!(throttled.responses.is_empty());
    // A full one begins no session.
    let mut other = broker.client();
    let full = fetch(&mut other, (0, 0), Some(1));
    assert!(full.throttle_time_ms > 0 && full.responses.is_empty());
    assert_eq!((full.error_code, full.session_id), (0, 0));

    set_quota(&mut admin, IT, "consumer_byte_rate", None);
    let rest = fetch(&mut client, (first.session_id, 2), None);
    assert_eq!((rest.error_code, rest.session_id), (0, first.session_id));
    assert!(records(&rest) > 1_200, "it goes on where it was");
}

#[test]
fn what_is_larger_than_a_quota_allows_at_once_comes_and_is_paid_for() {
    let broker = Broker::start();
    let mut admin = broker.client();
    admin.create_topic("t", 1, &[]);
    admin.must_produce("t", 0, batch(&[(None, Some(&"x".repeat(1_000)))]));
    set_quota(&mut admin, IT, "consumer_byte_rate", Some(50.0));
    let large = fetch(&mut broker.client(), (0, -1), Some(0));
    assert!(records(&large) > 1_000 && large.throttle_time_ms > 5_000);
    let again = fetch(&mut broker.client(), (0, -1), Some(0));
    assert!(records(&again) == 0 && again.throttle_time_ms > 5_000);
}

const THIS: (&str, &str) = ("ip", "127.0.0.1");

#[test]
fn an_address_that_connects_too_often_is_refused_until_it_may_again() {
    let broker = Broker::start();
    let mut admin = broker.client();
    let rate = "connection_creation_rate";
    set_quota(&mut admin, THIS, rate, Some(1.0));
    assert_eq!(quotas(&mut admin, "ip"), [("127.0.0.1".into(), rate.into(), 1.0)]);
    let ask = |broker: &Broker| broker.client().try_call(12, &MetadataRequest::default());
    eventually("a refused connection", || ask(&broker).is_none().then_some(()));
    assert!(broker.metric("klamm_connections_throttled_total{of=\"ip\"}") > 0.0);
    // Those that are there go on.
    set_quota(&mut admin, THIS, rate, None);
    assert!(ask(&broker).is_some());
}

/// Value, source and the sources of all synonyms.
fn described(client: &mut Client, name: &str) -> (String, i8, Vec<i8>) {
    let resource = DescribeConfigsResource::default()
        .with_resource_type(4)
        .with_resource_name(text("1"))
        .with_configuration_keys(Some(vec![text(name)]));
    let request = DescribeConfigsRequest::default()
        .with_resources(vec![resource])
        .with_include_synonyms(true);
    let results = client.call(4, &request).results;
    let it = &results[0].configs[0];
    assert!(!it.read_only, "{name}");
    let sources = it.synonyms.iter().map(|it| it.source).collect();
    (it.value.as_ref().unwrap().to_string(), it.config_source, sources)
}

/// Kafka's numbers for sources.
const DYNAMIC_DEFAULT: i8 = 3;
const STATIC: i8 = 4;
const DEFAULT: i8 = 5;

#[test]
fn limits_of_connections_are_altered_at_once_and_outlive_a_restart() {
    let mut broker = Broker::with(&[("max.connections.per.ip", "100")]);
    broker.announce("its address has max.connections.per.ip");
    let name = "max.connections.per.ip";
    let mut admin = broker.client();
    assert_eq!(described(&mut admin, name), ("100".into(), STATIC, vec![STATIC, DEFAULT]));
    admin.set_broker_config(name, Some("1"));
    let altered = ("1".into(), DYNAMIC_DEFAULT, vec![DYNAMIC_DEFAULT, STATIC, DEFAULT]);
    assert_eq!(described(&mut admin, name), altered);
    let ask = |broker: &Broker| broker.client().try_call(12, &MetadataRequest::default());
    assert!(ask(&broker).is_none());
    drop(admin);
    broker.terminate_and_restart();
    let mut admin = broker.client();
    assert_eq!(described(&mut admin, name), altered);
    assert!(ask(&broker).is_none());
    admin.set_broker_config(name, None);
    assert!(ask(&broker).is_some());
}

#[test]
fn fewer_connections_and_more_cleaners_take_effect_while_the_node_runs() {
    let broker = Broker::start();
    let mut idle = broker.client();
    idle.call(12, &MetadataRequest::default());
    let mut admin = broker.client();
    for (name, value) in [
        ("log.cleaner.threads", "2"),
        ("log.cleaner.dedupe.buffer.size", "2000000"),
        ("log.cleaner.io.buffer.size", "65536"),
        ("num.recovery.threads.per.data.dir", "3"),
        ("max.connection.creation.rate", "1000"),
        ("max.connections.per.ip.overrides", "10.0.0.1:1"),
        ("max.connections", "1"),
    ] {
        admin.set_broker_config(name, Some(value));
        let (told, source, _) = described(&mut admin, name);
        assert_eq!((&*told, source), (value, DYNAMIC_DEFAULT), "{name}");
    }
    assert!(idle.receive_frame().is_err(), "it was silent for longest");
    assert!(broker.metric("klamm_connections_closed_total{reason=\"excess\"}") > 0.0);
    admin.set_broker_config("max.connections", None);
    broker.client().call(12, &MetadataRequest::default());
}
