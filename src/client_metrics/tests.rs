//! Clients that ask and push, with the time as an argument.

use super::*;
use crate::{metadata::MetadataRecord, wire::record_batch::compress};

const ID: Uuid = Uuid::from_u128(7);

fn client(instance_id: Uuid) -> Client<'static> {
    Client {
        instance_id,
        client_id: "app",
        software_name: "apache-kafka-java",
        software_version: "4.1.0",
        address: "127.0.0.1",
        port: 4711,
    }
}

fn subscribed(configs: &[(&str, &str, &str)]) -> ClientMetrics {
    let clients = ClientMetrics::new(1_000);
    clients.apply(&image(configs));
    clients
}

fn image(configs: &[(&str, &str, &str)]) -> MetadataImage {
    let mut image = MetadataImage { version: 1, ..MetadataImage::default() };
    for &(subscription, name, value) in configs {
        image.replay(&MetadataRecord::Config {
            resource: ConfigResource::ClientMetrics(subscription.into()),
            name: name.into(),
            value: Some(value.into()),
        });
    }
    image
}

const ALL_EVERY_SECOND: &[(&str, &str, &str)] =
    &[("s", "metrics", "*"), ("s", "interval.ms", "1000")];

fn push(subscription_id: i32, compression_type: i8, metrics: &[u8]) -> Push<'_> {
    Push { subscription_id, terminating: false, compression_type, metrics }
}

/// A field of bytes.
fn field(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![tag << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend(bytes);
    out
}

/// A sum of one name.
fn payload(name: &str, values: &[f64], temporality: u8) -> Vec<u8> {
    let attribute = [field(1, b"topic"), field(2, &field(1, b"t"))].concat();
    let point = |value: &f64| {
        let number = [&[4 << 3 | 1][..], &value.to_le_bytes()].concat();
        field(1, &[number, field(7, &attribute)].concat())
    };
    let points: Vec<u8> = values.iter().flat_map(point).collect();
    let sum = [points, vec![2 << 3, temporality]].concat();
    let metric = [field(1, name.as_bytes()), field(7, &sum)].concat();
    field(1, &field(2, &field(2, &metric)))
}

fn series(clients: &ClientMetrics, now_ms: i64) -> Vec<(String, String, f64)> {
    let mut all = Vec::new();
    clients.for_each_series(now_ms, |key, it| {
        all.push((key.metric.clone(), key.attributes.clone(), it.value));
    });
    all
}

#[test]
fn a_client_gets_what_all_subscriptions_that_match_it_ask_for_at_the_shortest_interval() {
    let clients = subscribed(&[
        ("a", "metrics", "x,y"),
        ("a", "interval.ms", "5000"),
        ("b", "metrics", "y,z"),
        ("b", "match", "client_software_name=apache-.*,client_source_port=4711"),
        ("c", "metrics", "*"),
        ("c", "interval.ms", "100"),
        ("c", "match", "client_id=other"),
    ]);
    let granted = clients.subscribe(&client(ID), 0).unwrap();
    assert_eq!(granted.metrics, ["x", "y", "z"]);
    assert_eq!(granted.interval_ms, 5_000);
    let other = Client { client_id: "other", ..client(Uuid::from_u128(8)) };
    let granted = clients.subscribe(&other, 0).unwrap();
    assert_eq!((granted.metrics, granted.interval_ms), (vec!["*".into()], 100));
}

#[test]
fn deltas_are_summed_up_and_other_numbers_replaced() {
    let clients = subscribed(ALL_EVERY_SECOND);
    let id = clients.subscribe(&client(ID), 0).unwrap().subscription_id;
    for (at, codec) in (0_u8..).zip(Compression::ALL) {
        let now_ms = 1_000 * i64::from(at);
        let metrics = compress(codec, &payload("deltas", &[2.0], 1));
        clients.push(&client(ID), &push(id, at as i8, &metrics), now_ms).unwrap();
    }
    let metrics = payload("newest", &[2.0, 3.0], 2);
    clients.push(&client(ID), &push(id, 0, &metrics), 5_000).unwrap();
    let told = |name: &str, value| (name.to_owned(), "topic=t".to_owned(), value);
    assert_eq!(series(&clients, 5_000), [told("deltas", 10.0), told("newest", 3.0)]);
    assert_eq!(series(&clients, 10_000_000), []);
}

#[test]
fn a_point_of_many_attributes_does_not_grow_in_memory() {
    // Written out, it has 325 digits.
    let tiny = [&[4 << 3 | 1][..], &5e-324_f64.to_le_bytes()].concat();
    let attributes = field(7, &[field(1, b"k"), field(2, &tiny)].concat()).repeat(1_000);
    let number = [&[4 << 3 | 1][..], &1.0_f64.to_le_bytes()].concat();
    let points = field(1, &[number, attributes].concat());
    let metric = [field(1, b"gauge"), field(5, &points)].concat();
    let mut bytes = 0;
    let metrics = field(1, &field(2, &field(2, &metric)));
    otlp::each_point(&metrics, &mut |it| bytes += it.attributes.len()).unwrap();
    assert!((256..1_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_client_comes_when_it_may() {
    let clients = subscribed(ALL_EVERY_SECOND);
    let id = clients.subscribe(&client(ID), 0).unwrap().subscription_id;
    let sent = |now_ms| clients.push(&client(ID), &push(id, 0, &[]), now_ms);
    assert_eq!(clients.subscribe(&client(ID), 999), Err(PushError::TooSoon));
    assert_eq!(sent(10), Ok(()));
    assert_eq!(sent(1_009), Err(PushError::TooSoon));
    assert_eq!(sent(1_010), Ok(()));
    assert_eq!(clients.subscribe(&client(ID), 2_009), Err(PushError::TooSoon));
    let last = Push { terminating: true, ..push(id, 0, &[]) };
    assert_eq!(clients.push(&client(ID), &last, 1_011), Ok(()));
    assert_eq!(sent(9_000), Err(PushError::Terminated));
}

#[test]
fn a_changed_subscription_is_asked_for_anew_at_once() {
    let clients = subscribed(ALL_EVERY_SECOND);
    let id = clients.subscribe(&client(ID), 0).unwrap().subscription_id;
    let mut changed = image(&[("s", "metrics", "a"), ("s", "interval.ms", "1000")]);
    changed.version = 2;
    clients.apply(&changed);
    let refused = clients.push(&client(ID), &push(id, 0, &[]), 10);
    assert_eq!(refused, Err(PushError::UnknownSubscription));
    let granted = clients.subscribe(&client(ID), 11).unwrap();
    assert_eq!(granted.metrics, ["a"]);
    assert_ne!(granted.subscription_id, id);
}

#[test]
fn what_cannot_be_taken_is_refused() {
    let clients = subscribed(&[("s", "metrics", "*"), ("s", "interval.ms", "100")]);
    let id = clients.subscribe(&client(ID), 0).unwrap().subscription_id;
    let bomb = compress(Compression::Zstd, &vec![0; 100_000]);
    let large = vec![0; 1_001];
    let mut now_ms = 0;
    for (compression_type, metrics, error) in [
        (5, &[1][..], PushError::UnsupportedCompression),
        (0, &large, PushError::TooLarge),
        (4, &bomb, PushError::TooLarge),
        (4, &[1, 2, 3], PushError::Unreadable),
        (0, &[0xff; 9], PushError::Unreadable),
    ] {
        now_ms += 100;
        let sent = push(id, compression_type, metrics);
        assert_eq!(clients.push(&client(ID), &sent, now_ms), Err(error));
    }
    assert_eq!(series(&clients, now_ms), []);
}

#[test]
fn clients_do_not_choose_how_much_is_remembered() {
    let clients = ClientMetrics::new(10_000_000);
    clients.apply(&image(&[("s", "metrics", "*"), ("s", "interval.ms", "100")]));
    let sent = |at: u128, metrics: &[u8]| {
        let client = client(Uuid::from_u128(at + 2));
        let id = clients.subscribe(&client, at as i64).unwrap().subscription_id;
        clients.push(&client, &push(id, 0, metrics), at as i64).unwrap();
    };
    let long = payload(&"n".repeat(100_000), &[1.0; 1_000], 2);
    sent(0, &long);
    assert_eq!((series(&clients, 0).len(), clients.dropped()), (0, 1));
    let short = payload("n", &[1.0], 2);
    (1..=17_000).for_each(|at| sent(at, &short));
    assert_eq!(series(&clients, 0).len(), 10_000);
    assert_eq!(clients.dropped(), 7_001);
}

proptest::proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
        let _ = otlp::each_point(&bytes, &mut drop);
    }
}
