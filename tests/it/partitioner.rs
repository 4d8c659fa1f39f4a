//! The partitioner hook: where records go, once and in order, whatever fails in between.

use std::fs;

use bytes::Bytes;
use klamm::wire::record_batch::ControlType;

use crate::support::{Broker, Client, KeyValue, Session, batch, guests::by_last_digit};

const NOT_ENOUGH_REPLICAS: i16 = 19;
const NOT_ENOUGH_REPLICAS_AFTER_APPEND: i16 = 20;
const INVALID_RECORD: i16 = 87;

/// A node with the plugin `digit`, and a topic `t` of three partitions under it.
fn start(configs: &[(&str, &str)]) -> (Broker, Client) {
    let broker = Broker::start();
    broker.load_plugin("digit", &by_last_digit("1.0.0", false));
    let mut client = broker.client();
    let configs: Vec<_> = [("klamm.partitioner", "digit")].iter().chain(configs).copied().collect();
    client.create_topic("t", 3, &configs);
    (broker, client)
}

fn keyed<'a>(key: &'a str, value: &'a str) -> KeyValue<'a> {
    (Some(key), Some(value))
}

#[track_caller]
fn assert_values(client: &mut Client, want: [&[&str]; 3]) {
    for (partition, want) in (0..).zip(want) {
        assert_eq!(client.values("t", partition), want, "partition {partition}");
    }
}

#[test]
fn each_record_is_stored_where_the_plugin_says() {
    let (_broker, mut client) = start(&[]);
    let session = Session::new(&mut client);
    let records =
        [keyed("k0", "a"), keyed("k1", "b"), keyed("k2", "c"), keyed("k0", "d"), (None, Some("e"))];
    let base_offset = client.must_produce("t", 0, session.batch(0, &records));
    assert_values(&mut client, [&["a", "d", "e"], &["b"], &["c"]]);
    let batches = client.read_batches("t", 0);
    let route = &batches[0].header;
    assert!(route.attributes.is_control());
    assert_eq!(route.base_offset.0, base_offset, "the answer is the route record's offset");
    assert_eq!((route.base_sequence, route.last_offset_delta), (0, 4));
    assert_eq!(
        batches[0].record(0).unwrap().key().unwrap()[2..],
        ControlType::Route.code().to_be_bytes()
    );
    assert_eq!(client.must_produce("t", 0, session.batch(5, &[keyed("k2", "f")])), 8);
    assert_values(&mut client, [&["a", "d", "e"], &["b"], &["c", "f"]]);
}

#[test]
fn a_batch_that_stays_whole_is_stored_as_received() {
    let (_broker, mut client) = start(&[]);
    let session = Session::new(&mut client);
    client.must_produce("t", 1, session.batch(0, &[keyed("k1", "a"), keyed("x1", "b")]));
    let batches = client.read_batches("t", 1);
    assert_eq!(batches.len(), 1);
    assert_eq!(batches[0].header.producer_id.unwrap().0, session.producer_id);
}

#[test]
fn a_retry_is_stored_once_also_after_a_crash() {
    let (mut broker, mut client) = start(&[]);
    let session = Session::new(&mut client);
    let sent = session.batch(0, &[keyed("k1", "a"), keyed("k2", "b"), keyed("k0", "c")]);
    let base_offset = client.must_produce("t", 0, sent.clone());
    assert_eq!(client.must_produce("t", 0, sent.clone()), base_offset);
    broker.kill_and_restart();
    let mut client = broker.client();
    assert_eq!(client.must_produce("t", 0, sent), base_offset);
    client.must_produce("t", 0, session.batch(3, &[keyed("k1", "d")]));
    assert_values(&mut client, [&["c"], &["a", "d"], &["b"]]);
}

#[test]
fn a_retry_follows_the_stored_route_whatever_changed_in_between() {
    let (mut broker, mut client) = start(&[]);
    let session = Session::new(&mut client);
    let sent = session.batch(0, &[keyed("k1", "a"), keyed("k2", "b")]);
    client.must_produce("t", 0, sent.clone());
    broker.load_plugin("digit", &by_last_digit("2.0.0", true));
    client.add_partitions("t", 5);
    client.must_produce("t", 0, sent.clone());
    broker.kill_and_restart();
    let mut client = broker.client();
    client.must_produce("t", 0, sent.clone());
    client.set_topic_config("t", "klamm.partitioner", "");
    client.must_produce("t", 0, sent);
    client.set_topic_config("t", "klamm.partitioner", "digit");
    // Five partitions, counted from the last: the new version decides about new batches.
    client.must_produce("t", 0, session.batch(2, &[keyed("k1", "c"), keyed("k3", "d")]));
    assert_values(&mut client, [&[], &["a", "d"], &["b"]]);
    assert_eq!(client.values("t", 3), ["c"]);
}

/// Makes the next append to a partition fail, as it then begins a segment, until the guard is dropped.
struct Unreachable {
    folder: std::path::PathBuf,
    away: std::path::PathBuf,
}

impl Unreachable {
    fn partition(broker: &Broker, partition: i32) -> Self {
        let folder = broker.data_dir().join(format!("t-{partition}"));
        let away = broker.data_dir().parent().unwrap().join("away");
        fs::rename(&folder, &away).unwrap();
        Self { folder, away }
    }

    fn end(self) {
        fs::rename(self.away, self.folder).unwrap();
    }
}

/// Two batches, the second of which is stored in partition 1 and not in partition 2; and a third one.
fn unfinished() -> (Broker, Unreachable, Session, [Bytes; 3]) {
    let (mut broker, mut client) = start(&[("segment.ms", "1")]);
    broker.announce("refused an append");
    let session = Session::new(&mut client);
    let sent = [
        session.batch(0, &[keyed("k1", "a"), keyed("k2", "b")]),
        session.batch(2, &[keyed("k1", "c"), keyed("k2", "d")]),
        session.batch(4, &[keyed("k2", "e"), keyed("k2", "f")]),
    ];
    client.must_produce("t", 0, sent[0].clone());
    let unreachable = Unreachable::partition(&broker, 2);
    let response = client.produce("t", 0, sent[1].clone());
    assert_eq!(response.error_code, NOT_ENOUGH_REPLICAS_AFTER_APPEND, "{response:?}");
    (broker, unreachable, session, sent)
}

#[track_caller]
fn code(client: &mut Client, batch: &Bytes) -> i16 {
    client.produce("t", 0, batch.clone()).error_code
}

#[test]
fn while_a_batch_is_unfinished_no_later_one_is_taken_and_an_older_one_is_acknowledged() {
    let (broker, unreachable, _, sent) = unfinished();
    let mut client = broker.client();
    assert_eq!(code(&mut client, &sent[2]), NOT_ENOUGH_REPLICAS);
    assert_eq!(code(&mut client, &sent[0]), 0);
    assert_eq!(code(&mut client, &sent[1]), NOT_ENOUGH_REPLICAS_AFTER_APPEND);
    unreachable.end();
    assert_eq!(code(&mut client, &sent[2]), NOT_ENOUGH_REPLICAS, "the one before is to come first");
    assert_eq!(code(&mut client, &sent[1]), 0);
    assert_eq!(code(&mut client, &sent[2]), 0);
    assert_values(&mut client, [&[], &["a", "c"], &["b", "d", "e", "f"]]);
}

#[test]
fn an_unfinished_batch_is_known_after_a_crash() {
    let (mut broker, unreachable, _, sent) = unfinished();
    unreachable.end();
    broker.kill_and_restart();
    let mut client = broker.client();
    assert_eq!(code(&mut client, &sent[0]), 0);
    assert_eq!(code(&mut client, &sent[2]), NOT_ENOUGH_REPLICAS);
    assert_eq!(code(&mut client, &sent[1]), 0);
    assert_eq!(code(&mut client, &sent[2]), 0);
    assert_eq!(code(&mut client, &sent[1]), 0);
    assert_values(&mut client, [&[], &["a", "c"], &["b", "d", "e", "f"]]);
}

#[test]
fn a_newer_epoch_ends_an_unfinished_batch() {
    let (broker, unreachable, session, sent) = unfinished();
    unreachable.end();
    let mut client = broker.client();
    let newer = Session { epoch: session.epoch + 1, ..session };
    client.must_produce("t", 0, newer.batch(0, &[keyed("k2", "new")]));
    assert_eq!(code(&mut client, &sent[1]), 47, "INVALID_PRODUCER_EPOCH");
    assert_values(&mut client, [&[], &["a", "c"], &["b", "new"]]);
}

#[test]
fn batches_in_flight_are_stored_in_order() {
    let (_broker, mut client) = start(&[]);
    let session = Session::new(&mut client);
    let values: Vec<String> = (0..40).map(|it| format!("{it:02}")).collect();
    let in_flight: Vec<_> = (0..)
        .zip(&values)
        .map(|(at, value)| {
            let keys = [keyed("k1", value), keyed("k2", value)];
            client.send_produce("t", 0, session.batch(2 * at, &keys))
        })
        .collect();
    for sent in in_flight {
        assert_eq!(client.receive_produced(sent).error_code, 0);
    }
    assert_eq!(client.values("t", 1), values);
    assert_eq!(client.values("t", 2), values);
}

#[test]
fn without_a_producer_id_an_empty_control_batch_gives_the_answer_its_offset() {
    let (_broker, mut client) = start(&[]);
    assert_eq!(client.must_produce("t", 0, batch(&[keyed("k1", "a"), keyed("k2", "b")])), 0);
    assert_eq!(client.must_produce("t", 0, batch(&[keyed("k1", "c"), keyed("k0", "d")])), 2);
    assert_values(&mut client, [&["d"], &["a", "c"], &["b"]]);
    assert!(client.read_batches("t", 0)[0].header.attributes.is_control());
}

#[test]
fn null_keys_spread_evenly_and_the_empty_key_is_a_key() {
    let broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("t", 3, &[("klamm.partitioner", "key-ordering")]);
    let session = Session::new(&mut client);
    client.must_produce("t", 0, session.batch(0, &[(None, Some("null")); 30]));
    let spread: Vec<_> = (0..3).map(|it| client.values("t", it).len()).collect();
    assert_eq!(spread, [10, 10, 10]);
    client.must_produce("t", 0, session.batch(30, &[keyed("", "empty"); 12]));
    let empty = |it: i32, client: &mut Client| {
        client.values("t", it).iter().filter(|it| *it == "empty").count()
    };
    let mut spread: Vec<_> = (0..3).map(|it| empty(it, &mut client)).collect();
    spread.sort_unstable();
    assert_eq!(spread, [0, 0, 12]);
}

#[test]
fn guard_refuses_what_belongs_elsewhere_and_takes_no_sequence_number_for_it() {
    let (_broker, mut client) = start(&[("klamm.partitioner.mode", "guard")]);
    let session = Session::new(&mut client);
    let refused = client.produce("t", 0, session.batch(0, &[keyed("k0", "a"), keyed("k2", "b")]));
    assert_eq!(refused.error_code, INVALID_RECORD);
    assert_eq!(refused.record_errors.len(), 1);
    assert_eq!(refused.record_errors[0].batch_index, 1);
    let message = refused.record_errors[0].batch_index_error_message.as_ref().unwrap();
    assert!(message.contains("partition 2, not 0"), "{message}");
    client.must_produce("t", 0, session.batch(0, &[keyed("k0", "c"), (None, Some("d"))]));
    assert_values(&mut client, [&["c", "d"], &[], &[]]);
}

#[test]
fn observe_counts_and_changes_nothing() {
    let (broker, mut client) = start(&[("klamm.partitioner.mode", "observe")]);
    client.must_produce("t", 0, batch(&[keyed("k0", "a"), keyed("k2", "b"), keyed("k1", "c")]));
    assert_values(&mut client, [&["a", "b", "c"], &[], &[]]);
    let line = "klamm_partitioner_mismatches_total{topic=\"t\",client_id=\"it\"}";
    assert!((broker.metric(line) - 2.0).abs() < f64::EPSILON, "{}", broker.get("/metrics"));
}

#[test]
fn a_custom_partitioner_takes_effect_when_its_file_is_copied() {
    let (broker, mut client) = start(&[]);
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/partitioner-by-tenant/partitioner-by-tenant.wasm"
    );
    broker.load_plugin("by-tenant", &fs::read(path).unwrap());
    client.set_topic_config("t", "klamm.partitioner", "by-tenant");
    let names: Vec<String> = (0..30).map(|it| format!("acme:{it}")).collect();
    let records: Vec<KeyValue<'_>> = names.iter().map(|it| keyed(it, it)).collect();
    let session = Session::new(&mut client);
    client.must_produce("t", 0, session.batch(0, &records));
    let together = (0..3).filter(|&it| client.values("t", it) == names).count();
    assert_eq!(together, 1, "one tenant, one partition, in order");
}
