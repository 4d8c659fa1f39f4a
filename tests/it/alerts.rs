//! Alerts: matching records are counted, exactly, by the fingerprint, whatever is killed in between.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Broker, Client, Session, TIMESTAMP_MS, batch, eventually, guests};

const ALERTS: &str = "__klamm_alerts";

/// A node on which alerts are made by `log-alert` for a topic of two partitions.
fn start() -> (Broker, Client) {
    let broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("logs", 2, &[("klamm.transforms", "log-alert")]);
    (broker, client)
}

/// The newest alert of each key.
fn alerts(client: &mut Client) -> BTreeMap<String, Value> {
    let stored = client.read(ALERTS, 0).into_iter();
    stored
        .filter_map(|it| Some((it.key?, serde_json::from_str(&it.value?).expect("JSON"))))
        .collect()
}

/// Matching records in all alerts.
fn counted(client: &mut Client) -> u64 {
    if !client.has_partition(ALERTS, 0) {
        return 0;
    }
    alerts(client).values().map(|it| it["count"].as_u64().unwrap()).sum()
}

/// A batch of lines, every second of which is an error.
fn lines(from: usize, count: usize) -> Vec<String> {
    let level = |it: usize| if it.is_multiple_of(2) { "ERROR" } else { "INFO" };
    (from..from + count)
        .map(|it| format!("2026-01-02 03:04:05,678 {} store: disk {it} is on fire", level(it)))
        .collect()
}

fn sent(session: Session, sequence: usize, lines: &[String]) -> bytes::Bytes {
    let records: Vec<_> = lines.iter().map(|it| (None, Some(it.as_str()))).collect();
    session.batch(i32::try_from(sequence).unwrap(), &records)
}

#[test]
fn an_alert_tells_what_was_found_where_and_how_often() {
    let (_broker, mut client) = start();
    let session = Session::new(&mut client);
    client.must_produce("logs", 1, sent(session, 0, &lines(0, 10)));
    eventually("five are counted", || (counted(&mut client) == 5).then_some(()));
    let alerts = alerts(&mut client);
    assert_eq!(alerts.len(), 1, "numbers are masked: {alerts:#?}");
    let (key, alert) = alerts.into_iter().next().unwrap();
    assert_eq!(alert["fingerprint"], key.as_str());
    assert_eq!(alert["severity"], "error");
    assert_eq!(alert["state"], "firing");
    assert_eq!(alert["topic"], "logs");
    assert_eq!(alert["plugin"], "log-alert");
    assert!(alert["plugin_version"].is_string());
    assert!(alert["title"].as_str().unwrap().contains("is on fire"));
    assert!(alert["labels"].is_object());
    assert_eq!(alert["first_timestamp_ms"], TIMESTAMP_MS);
    assert_eq!(alert["last_timestamp_ms"], TIMESTAMP_MS + 8);
    let want = serde_json::json!([
        {"partition": 1, "first_offset": 0, "last_offset": 8, "count": 5}
    ]);
    assert_eq!(alert["sources"], want);
}

#[test]
fn counts_are_exact_when_the_node_is_killed_at_once() {
    let (mut broker, mut client) = start();
    let session = Session::new(&mut client);
    let (batches, each) = (6, 40);
    for at in 0..batches {
        client.must_produce("logs", 0, sent(session, at * each, &lines(at * each, each)));
        if at % 2 == 1 {
            broker.kill_and_restart();
            client = broker.client();
            // A retry of what may have been counted already.
            client.must_produce("logs", 0, sent(session, at * each, &lines(at * each, each)));
        }
    }
    let want = (batches * each / 2) as u64;
    eventually("all are counted", || (counted(&mut client) >= want).then_some(()));
    broker.terminate_and_restart();
    assert_eq!(counted(&mut broker.client()), want);
}

#[test]
fn alerts_name_the_partition_that_a_partitioner_chose() {
    let (broker, mut client) = start();
    broker.load_plugin("digit", &guests::by_last_digit("1.0.0", false));
    client.set_topic_config("logs", "klamm.partitioner", "digit");
    let session = Session::new(&mut client);
    let lines = lines(0, 4);
    let keys = ["k0", "k1", "k1", "k1"];
    let records: Vec<_> =
        keys.iter().zip(&lines).map(|(key, line)| (Some(*key), Some(line.as_str()))).collect();
    client.must_produce("logs", 0, session.batch(0, &records));
    eventually("two are counted", || (counted(&mut client) == 2).then_some(()));
    let alert = alerts(&mut client).into_values().next().unwrap();
    let want = serde_json::json!([
        // After the route record's offsets 0 to 3.
        {"partition": 0, "first_offset": 4, "last_offset": 4, "count": 1},
        {"partition": 1, "first_offset": 1, "last_offset": 1, "count": 1}
    ]);
    assert_eq!(alert["sources"], want);
}

#[test]
fn a_refused_batch_raises_nothing() {
    let broker = Broker::start();
    broker.load_plugin("letter", &guests::by_first_letter());
    let mut client = broker.client();
    client.create_topic("logs", 1, &[("klamm.transforms", "letter")]);
    let refused = client.produce("logs", 0, batch(&[(None, Some("a")), (None, Some("r"))]));
    assert_eq!(refused.error_code, 87);
    client.must_produce("logs", 0, batch(&[(None, Some("a")), (None, Some("k"))]));
    eventually("one is counted", || (counted(&mut client) > 0).then_some(()));
    client.must_produce("logs", 0, batch(&[(None, Some("a"))]));
    eventually("two are counted", || (counted(&mut client) >= 2).then_some(()));
    assert_eq!(counted(&mut client), 2);
}

/// Waits until `want` are counted; a restart then shows that nothing came to it.
#[track_caller]
fn assert_counted(broker: &mut Broker, want: u64) -> Client {
    let mut client = broker.client();
    eventually("all are counted", || (counted(&mut client) >= want).then_some(()));
    broker.terminate_and_restart();
    let mut client = broker.client();
    assert_eq!(counted(&mut client), want);
    client
}

#[test]
fn what_is_stored_while_no_transform_watches_is_never_evaluated() {
    let (mut broker, mut client) = start();
    let session = Session::new(&mut client);
    client.must_produce("logs", 0, sent(session, 0, &lines(0, 10)));
    let mut client = assert_counted(&mut broker, 5);
    client.set_topic_config("logs", "klamm.transforms", "");
    client.must_produce("logs", 0, sent(session, 10, &lines(10, 10)));
    client.set_topic_config("logs", "klamm.transforms", "log-alert");
    broker.kill_and_restart();
    let mut client = broker.client();
    client.must_produce("logs", 0, sent(session, 20, &lines(20, 10)));
    let mut client = assert_counted(&mut broker, 10);
    // The same without a restart between putting back and the next record.
    client.set_topic_config("logs", "klamm.transforms", "");
    client.must_produce("logs", 0, sent(session, 30, &lines(30, 10)));
    client.set_topic_config("logs", "klamm.transforms", "log-alert");
    client.must_produce("logs", 0, sent(session, 40, &lines(40, 10)));
    broker.kill_and_restart();
    assert_counted(&mut broker, 15);
}

#[test]
fn a_topic_that_is_made_again_is_counted_anew() {
    let (mut broker, mut client) = start();
    let session = Session::new(&mut client);
    client.must_produce("logs", 0, sent(session, 0, &lines(0, 30)));
    let mut client = assert_counted(&mut broker, 15);
    client.must_produce("logs", 0, sent(session, 30, &lines(30, 2)));
    client.delete_topic("logs");
    client.create_topic("logs", 2, &[("klamm.transforms", "log-alert")]);
    let session = Session::new(&mut client);
    client.must_produce("logs", 0, sent(session, 0, &lines(0, 10)));
    broker.kill_and_restart();
    let mut client = broker.client();
    client.must_produce("logs", 0, sent(session, 10, &lines(10, 2)));
    eventually("the new topic's are counted", || (counted(&mut client) == 6).then_some(()));
    let alert = alerts(&mut client).into_values().next().unwrap();
    let want = serde_json::json!([
        {"partition": 0, "first_offset": 0, "last_offset": 10, "count": 6}
    ]);
    assert_eq!(alert["sources"], want);
}

#[test]
fn matches_that_have_not_fired_yet_survive_a_crash() {
    let (mut broker, _) = start();
    broker.put_plugin_file("log-alert.toml", b"[alert]\nfor-count = 6\nwithin-ms = 600000");
    broker.terminate_and_restart();
    let session = Session::new(&mut broker.client());
    for (at, restarts) in [(0, true), (4, true), (8, false)] {
        let mut client = broker.client();
        assert_eq!(counted(&mut client), 0, "it does not fire yet");
        client.must_produce("logs", 0, sent(session, at, &lines(at, 4)));
        if restarts {
            eventually("what waits is kept", || {
                let waits =
                    client.has_partition(ALERTS, 0) && !client.read_batches(ALERTS, 0).is_empty();
                waits.then_some(())
            });
            broker.kill_and_restart();
        }
    }
    assert_counted(&mut broker, 6);
}

#[test]
fn alerts_go_on_when_their_topic_was_deleted() {
    let (mut broker, mut client) = start();
    broker.announce("append a coordinator's records");
    broker.announce("a coordinator loads again");
    let session = Session::new(&mut client);
    client.must_produce("logs", 0, sent(session, 0, &lines(0, 10)));
    eventually("five are counted", || (counted(&mut client) == 5).then_some(()));
    client.delete_topic(ALERTS);
    client.must_produce("logs", 0, sent(session, 10, &lines(10, 10)));
    eventually("what came since is counted", || (counted(&mut client) >= 5).then_some(()));
}
