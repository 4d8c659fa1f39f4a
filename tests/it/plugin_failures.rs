//! What a transform's failure means: as `on-failure` says, within the limits, and to nobody else.

use std::time::Instant;

use crate::support::{Broker, Client, KeyValue, Session, batch, eventually, guests};

const NOT_ENOUGH_REPLICAS: i16 = 19;

/// A node with a transform `bad` that misbehaves, and a topic `t` under it.
fn start(toml: &str, body: &str) -> (Broker, Client) {
    let mut broker = Broker::start();
    broker.announce("bad");
    broker.put_plugin_file("bad.toml", toml.as_bytes());
    broker.load_plugin("bad", &guests::hostile_transform(body));
    let mut client = broker.client();
    client.create_topic("t", 1, &[("klamm.transforms", "bad")]);
    (broker, client)
}

fn two<'a>() -> [KeyValue<'a>; 2] {
    [(Some("key"), Some("a")), (None, Some("b"))]
}

#[test]
fn reject_stores_nothing_and_asks_the_producer_to_try_again() {
    let (broker, mut client) = start("", "unreachable");
    let session = Session::new(&mut client);
    assert_eq!(client.produce("t", 0, session.batch(0, &two())).error_code, NOT_ENOUGH_REPLICAS);
    assert_eq!(client.values("t", 0), Vec::<String>::new());
    broker.load_plugin("bad", &guests::by_first_letter());
    client.must_produce("t", 0, session.batch(0, &two()));
    assert_eq!(client.values("t", 0), ["a", "b"]);
}

#[test]
fn pass_stores_the_batch_as_it_came() {
    let (_broker, mut client) = start("on-failure = \"pass\"", "unreachable");
    client.must_produce("t", 0, batch(&two()));
    assert_eq!(client.values("t", 0), ["a", "b"]);
}

#[test]
fn drop_stores_a_control_batch_in_its_place() {
    let (_broker, mut client) = start("on-failure = \"drop\"", "unreachable");
    let session = Session::new(&mut client);
    client.must_produce("t", 0, session.batch(0, &two()));
    client.must_produce("t", 0, session.batch(2, &two()));
    assert_eq!(client.values("t", 0), Vec::<String>::new());
    assert_eq!(client.read_batches("t", 0)[1].header.last_offset().0, 3);
}

#[test]
fn dead_letter_stores_the_records_elsewhere_with_the_reason() {
    let (_broker, mut client) = start("on-failure = \"dead-letter\"", "unreachable");
    let session = Session::new(&mut client);
    let sent = session.batch(0, &two());
    let first = client.produce("t", 0, sent.clone()).error_code;
    assert_eq!(first, NOT_ENOUGH_REPLICAS, "its topic is made first");
    // Not by sending it again: ten failures would quarantine the plugin, and the letters would tell of that.
    eventually("the dead-letter topic", || client.has_partition("t.dead-letter", 0).then_some(()));
    client.must_produce("t", 0, sent);
    assert_eq!(client.values("t", 0), Vec::<String>::new());
    let letters = client.read("t.dead-letter", 0);
    assert_eq!(letters.len(), 2);
    assert_eq!((letters[0].key.as_deref(), letters[0].value.as_deref()), (Some("key"), Some("a")));
    let header = |name: &str| {
        let found = letters[1].headers.iter().find(|(it, _)| it == name).unwrap();
        found.1.clone().unwrap()
    };
    assert_eq!(header("klamm.dead-letter.topic"), "t");
    assert_eq!(header("klamm.dead-letter.partition"), "0");
    assert_eq!(header("klamm.dead-letter.plugin"), "bad");
    assert!(header("klamm.dead-letter.reason").contains("unreachable"));
}

/// Ways to misbehave; each ends the smoke call well.
const HOSTILE: [(&str, &str); 6] = [
    ("loops", "(call $loop) unreachable"),
    ("hoards", "(loop $more (drop (memory.grow (i32.const 16))) (br $more)) unreachable"),
    ("recurses", "(call $recurse) unreachable"),
    ("traps", "unreachable"),
    (
        "floods the log",
        "(loop $more (call $log (i32.const 1) (i32.const 602) (i32.const 10)) (br $more)) unreachable",
    ),
    (
        "answers with too few actions",
        "(i32.store (i32.const 2052) (i32.const 524288)) (i32.store (i32.const 2056) (i32.const 1)) (global.get $out)",
    ),
];

/// The limit of a hostile call. What it really costs is wall time and depends on what else the machine does: that it ends
/// at all is what the client's patience tests.
const LIMITS: &str = "[limits]\ncall-timeout-ms = 300";

#[test]
fn each_way_to_misbehave_costs_its_call_and_harms_no_other_topic() {
    for (what, body) in HOSTILE {
        let (broker, mut client) = start(LIMITS, body);
        client.create_topic("other", 1, &[]);
        let session = Session::new(&mut client);
        for attempt in 0..12 {
            let failed = client.produce("t", 0, session.batch(0, &two()));
            assert_eq!(failed.error_code, NOT_ENOUGH_REPLICAS, "{what}, attempt {attempt}");
            client.must_produce("other", 0, batch(&two()));
        }
        assert!(
            (broker.metric("klamm_plugin_quarantined{plugin=\"bad\"}") - 1.0).abs() < 0.1,
            "{what}"
        );
        assert_eq!(client.values("t", 0), Vec::<String>::new(), "{what}");
    }
}

/// Batches of each measurement; `KLAMM_BATCHES` makes it longer.
fn batches() -> usize {
    std::env::var("KLAMM_BATCHES").map_or(300, |it| it.parse().expect("a number"))
}

/// Batches a second into a topic without hooks.
fn throughput(client: &mut Client, topic: &str) -> f64 {
    let started = Instant::now();
    let in_flight = 10;
    for _ in 0..batches() / in_flight {
        let sent: Vec<_> =
            (0..in_flight).map(|_| client.send_produce(topic, 0, batch(&two()))).collect();
        for it in sent {
            assert_eq!(client.receive_produced(it).error_code, 0);
        }
    }
    batches() as f64 / started.elapsed().as_secs_f64()
}

/// Whatever else the machine does only slows a run down, so the best of many runs is what the broker can do.
fn best(measured: &[f64]) -> f64 {
    measured.iter().copied().fold(0.0, f64::max)
}

/// Pairs of runs that must do; after as many again the difference is no accident.
const PAIRS: usize = 9;
const PAIRS_MAX: usize = 10 * PAIRS;

#[test]
fn a_quarantined_plugin_leaves_other_topics_their_throughput() {
    let (broker, mut client) = start(LIMITS, HOSTILE[0].1);
    client.create_topic("other", 1, &[]);
    for _ in 0..11 {
        client.produce("t", 0, batch(&two()));
    }
    eventually("it is quarantined", || {
        (broker.metric("klamm_plugin_quarantined{plugin=\"bad\"}") > 0.5).then_some(())
    });
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let mut bad = broker.client();
    // Interleaved: whatever else the machine does meets both.
    while alone.len() < PAIRS || (best(&beside) < 0.8 * best(&alone) && alone.len() < PAIRS_MAX) {
        alone.push(throughput(&mut client, "other"));
        let waiting: Vec<_> = (0..20).map(|_| bad.send_produce("t", 0, batch(&two()))).collect();
        beside.push(throughput(&mut client, "other"));
        for it in waiting {
            assert_eq!(bad.receive_produced(it).error_code, NOT_ENOUGH_REPLICAS);
        }
    }
    let (alone, beside) = (best(&alone), best(&beside));
    println!("batches a second: {alone:.0} alone, {beside:.0} beside a quarantined plugin");
    assert!(beside >= 0.8 * alone, "{beside:.0} of {alone:.0} batches a second");
}
