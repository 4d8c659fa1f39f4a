//! The sample logs of `examples/log-collection`: stack traces, JSON lines, syslog and logfmt through a broker raise as
//! many alerts as their `expected.json` says, counted by eye and not by Klamm.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::Value;

use crate::support::{Broker, Client, Session, eventually};

const ALERTS: &str = "__klamm_alerts";

/// Lines of a batch: few, so that stack traces go on in the next one.
const BATCH: usize = 5;

fn folder() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/examples/log-collection/logs").into()
}

/// What `expected.json` says of each file.
fn expected() -> BTreeMap<String, Value> {
    let text = fs::read_to_string(folder().join("expected.json")).unwrap();
    let all: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    all.into_iter().filter(|(_, it)| it.is_object()).collect()
}

/// Sends a file's lines as a collector does, a record each.
fn send(client: &mut Client, topic: &str, lines: &[String]) {
    let session = Session::new(client);
    for (at, lines) in lines.chunks(BATCH).enumerate() {
        let records: Vec<_> = lines.iter().map(|it| (None, Some(it.as_str()))).collect();
        let sequence = i32::try_from(at * BATCH).unwrap();
        client.must_produce(topic, 0, session.batch(sequence, &records));
    }
}

/// The newest alerts of each topic: their count in all, and the sum over their sources.
fn counted(client: &mut Client) -> BTreeMap<String, (u64, u64)> {
    let mut newest = BTreeMap::new();
    if client.has_partition(ALERTS, 0) {
        newest.extend(client.read(ALERTS, 0).into_iter().map(|it| (it.key, it.value)));
    }
    let mut topics = BTreeMap::new();
    for alert in newest.into_values().flatten() {
        let alert: Value = serde_json::from_str(&alert).expect("JSON");
        let sources = alert["sources"].as_array().unwrap().iter();
        let topic = topics.entry(alert["topic"].as_str().unwrap().to_owned()).or_insert((0, 0));
        topic.0 += alert["count"].as_u64().unwrap();
        topic.1 += sources.map(|it| it["count"].as_u64().unwrap()).sum::<u64>();
    }
    topics
}

#[test]
fn each_sample_raises_what_its_manifest_says() {
    let broker = Broker::start();
    broker.put_plugin_file("log-warn.toml", b"[config]\nlevels = \"WARN\"");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/plugins/log-alert/log-alert.wasm");
    broker.load_plugin("log-warn", &fs::read(shipped).unwrap());
    let mut client = broker.client();
    let mut want = BTreeMap::new();
    for (file, expected) in expected() {
        let text = fs::read_to_string(folder().join(&file)).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(lines.len() as u64, expected["lines"], "{file}");
        for (plugin, levels) in [("log-alert", "error"), ("log-warn", "warn")] {
            let topic = format!("{plugin}.{file}");
            client.create_topic(&topic, 1, &[("klamm.transforms", plugin)]);
            send(&mut client, &topic, &lines);
            let count = expected[levels].as_u64().unwrap();
            want.insert(topic, (count, count));
        }
    }
    assert_eq!(want.len(), 2 * 4, "four samples under two plugins");
    let enough = |it: &BTreeMap<String, (u64, u64)>| {
        want.iter().all(|(topic, want)| it.get(topic).is_some_and(|it| it.0 >= want.0))
    };
    let found = eventually("all are counted", || Some(counted(&mut client)).filter(enough));
    assert_eq!(found, want);
}
