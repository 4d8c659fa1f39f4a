//! `/metrics`: what an operator can see of a node.

use crate::support::{Broker, KeyValue, batch, eventually};

fn count(broker: &Broker, line: &str) -> u64 {
    broker.metric(line) as u64
}

#[test]
fn topics_requests_and_alerts_are_counted() {
    let broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("logs", 2, &[("klamm.transforms", "log-alert")]);
    let line = "2026-01-02 03:04:05,678 ERROR store: the disk is on fire";
    let records: [KeyValue<'_>; 2] = [(None, Some(line)), (None, Some("INFO all is well"))];
    client.must_produce("logs", 1, batch(&records));
    assert_eq!(client.values("logs", 1).len(), 2);
    assert!(!client.has_partition("nowhere", 0));

    eventually("the alert fires", || {
        (broker.metric("klamm_alerts_firing{plugin=\"log-alert\"}") >= 1.0).then_some(())
    });
    assert_eq!(count(&broker, "klamm_alert_matches_total{plugin=\"log-alert\"}"), 1);
    assert_eq!(count(&broker, "klamm_alerts_fired_total{plugin=\"log-alert\"}"), 1);
    let of_logs = |name: &str| broker.metric(&format!("{name}{{topic=\"logs\"}}"));
    let (size, produced) =
        (of_logs("klamm_topic_size_bytes"), of_logs("klamm_topic_produced_bytes_total"));
    assert!(size > 0.0 && (size - produced).abs() < 0.5, "{size} {produced}");
    assert!(of_logs("klamm_topic_fetched_bytes_total") >= produced);
    let error = "klamm_request_errors_total{api=\"Fetch\",error=\"UNKNOWN_TOPIC_OR_PARTITION\"}";
    assert!(broker.metric(error) >= 1.0);
    assert!(broker.metric("klamm_topics") >= 2.0);
    let metrics = broker.get("/metrics");
    for line in ["klamm_partitions_offline 0\n", "klamm_log_dir_offline{dir=\"data\"} 0\n"] {
        assert!(metrics.contains(line), "{line}");
    }
}

#[test]
fn deliveries_are_counted_by_sink_and_failures_too() {
    let mut broker = Broker::with(&[
        ("klamm.alert.sinks.log.type", "log"),
        ("klamm.alert.sinks.down.type", "webhook"),
        // Nobody listens there.
        ("klamm.alert.sinks.down.url", "http://127.0.0.1:1/"),
    ]);
    broker.announce("deliver alerts; trying again");
    broker.client().create_topic("logs", 1, &[("klamm.transforms", "log-alert")]);
    let records: [KeyValue<'_>; 1] = [(None, Some("ERROR the disk is on fire"))];
    broker.client().must_produce("logs", 0, batch(&records));
    eventually("one sink takes the alert and the other does not", || {
        let taken = broker.metric("klamm_sink_deliveries_total{sink=\"log\"}") >= 1.0;
        let failed = broker.metric("klamm_sink_failures_total{sink=\"down\"}") >= 1.0;
        let lags = broker.metric("klamm_sink_lag{sink=\"down\"}") >= 1.0;
        (taken && failed && lags).then_some(())
    });
    assert_eq!(count(&broker, "klamm_sink_deliveries_total{sink=\"down\"}"), 0);
}

/// Each family has a sentence, and its name says what it is: docs/operations.md lists them.
#[test]
fn every_metric_has_a_help_text_and_is_documented() {
    let broker = Broker::start();
    broker.client().create_topic("t", 1, &[]);
    broker.client().has_partition("nowhere", 0);
    let metrics = broker.get("/metrics");
    let documented = include_str!("../../docs/operations.md");
    let families = metrics.lines().filter_map(|it| it.strip_prefix("# TYPE ")).map(|it| {
        let (name, kind) = it.split_once(' ').unwrap();
        assert!(name.starts_with("klamm_"), "{name}");
        assert!(metrics.contains(&format!("# HELP {name} ")), "{name} has no help");
        let shown = if kind == "counter" { format!("{name}_total") } else { name.to_owned() };
        let shown = if kind == "info" { format!("{name}_info") } else { shown };
        assert!(documented.contains(&format!("`{shown}")), "{shown} is not in docs/operations.md");
    });
    assert!(families.count() > 20);
}
