//! Counting, folding, firing and ending alerts, by requests and replayed records.

use super::*;
use crate::alert::Severity;

const DEFAULT: AlertPolicy = AlertPolicy {
    for_count: 1,
    within_ms: 0,
    dedup_ms: 0,
    resolve_after_ms: 10_000,
    rate_limit_per_minute: 0,
};

fn found(fingerprint: &str, offset: i64) -> Match {
    Match {
        source: TopicPartition::new("logs", 0),
        offset: Some(Offset(offset)),
        plugin: "log-alert".into(),
        plugin_version: "1.0.0".into(),
        severity: Severity::Error,
        title: "boom".into(),
        fingerprint: fingerprint.into(),
        labels: BTreeMap::new(),
        timestamp: TimestampMs(offset),
    }
}

fn evaluated(from: i64, fingerprints: &[&str]) -> Evaluated {
    let matches: Vec<Match> =
        fingerprints.iter().zip(from..).map(|(it, offset)| found(it, offset)).collect();
    Evaluated {
        source: TopicPartition::new("logs", 0),
        plugin: "log-alert".into(),
        from: Offset(from),
        to: Offset(from + matches.len() as i64),
        matches: Some(matches),
    }
}

/// Drives the machine as its runtime does, and keeps what was logged.
struct Run {
    alerts: Alerts,
    policy: AlertPolicy,
    log: Vec<(Fingerprint, Option<AlertRecord>)>,
}

impl Run {
    fn new(policy: AlertPolicy) -> Self {
        Self { alerts: Alerts::default(), policy, log: Vec::new() }
    }

    fn count(&mut self, at: i64, evaluated: Evaluated) -> usize {
        let policy = self.policy.clone();
        self.alerts.count(evaluated, TimestampMs(at), &|_| policy.clone());
        self.tick(at)
    }

    fn tick(&mut self, at: i64) -> usize {
        let policy = self.policy.clone();
        let records = self.alerts.tick(TimestampMs(at), &|_| policy.clone());
        let count = records.len();
        for (fingerprint, record) in records {
            self.alerts.replay(&fingerprint, record.clone(), TimestampMs(at));
            self.log.push((fingerprint, record));
        }
        count
    }

    /// A restart: what was logged is all that is left.
    fn restart(&mut self, at: i64) {
        self.alerts = Alerts::default();
        for (fingerprint, record) in &self.log {
            self.alerts.replay(fingerprint, record.clone(), TimestampMs(at));
        }
        let policy = self.policy.clone();
        self.alerts.loaded(&|_| policy.clone());
    }

    fn newest(&self) -> BTreeMap<Fingerprint, AlertRecord> {
        let newest: BTreeMap<_, _> = self.log.iter().cloned().collect();
        newest.into_iter().filter_map(|(key, record)| Some((key, record?))).collect()
    }

    fn total(&self) -> u64 {
        self.newest().values().map(|it| it.count).sum()
    }
}

#[test]
fn the_first_match_is_logged_at_once_and_then_at_most_one_update_a_second() {
    let mut run = Run::new(DEFAULT);
    assert_eq!(run.count(0, evaluated(0, &["a"])), 1);
    assert_eq!(run.count(10, evaluated(1, &["a", "a"])), 0);
    assert_eq!(run.count(20, evaluated(3, &["a"])), 0);
    assert_eq!(run.tick(1_000), 1);
    assert_eq!(run.total(), 4);
}

#[test]
fn records_that_were_counted_are_passed_over() {
    let mut run = Run::new(DEFAULT);
    run.count(0, evaluated(0, &["a", "b", "a"]));
    run.tick(1_000);
    run.restart(2_000);
    run.count(2_000, evaluated(0, &["a", "b", "a", "a"]));
    run.tick(3_000);
    assert_eq!(run.total(), 4);
}

#[test]
fn what_was_not_logged_before_a_crash_is_counted_when_it_is_evaluated_again() {
    let mut run = Run::new(DEFAULT);
    run.count(0, evaluated(0, &["a"]));
    run.count(5, evaluated(1, &["a", "a"]));
    run.restart(10);
    run.count(10, evaluated(0, &["a", "a", "a"]));
    run.tick(2_000);
    assert_eq!(run.total(), 3);
}

#[test]
fn progress_is_told_only_when_everything_found_is_logged() {
    let mut run = Run::new(DEFAULT);
    run.count(0, evaluated(0, &["a"]));
    assert!(run.alerts.take_progress(TimestampMs(0)).is_some());
    run.count(5, evaluated(1, &["a"]));
    assert_eq!(run.alerts.take_progress(TimestampMs(5)), None);
    run.tick(1_000);
    let progress = run.alerts.take_progress(TimestampMs(1_000)).unwrap();
    assert_eq!(progress.values().collect::<Vec<_>>(), [&Offset(2)]);
}

#[test]
fn a_quiet_alert_is_resolved_and_fires_again_with_its_count() {
    let mut run = Run::new(DEFAULT);
    run.count(0, evaluated(0, &["a"]));
    assert_eq!(run.tick(9_999), 0);
    assert_eq!(run.tick(10_000), 1);
    assert!(run.newest().values().all(|it| it.state == AlertState::Resolved));
    run.count(20_000, evaluated(1, &["a"]));
    let newest = run.newest();
    let alert = newest.values().next().unwrap();
    assert_eq!((alert.state, alert.count), (AlertState::Firing, 2));
}

#[test]
fn an_alert_fires_only_after_its_count_within_its_time() {
    let mut run = Run::new(AlertPolicy { for_count: 3, within_ms: 100, ..DEFAULT });
    assert_eq!(run.count(0, evaluated(0, &["a"])), 0);
    assert_eq!(run.count(200, evaluated(1, &["a"])), 0);
    assert_eq!(run.count(250, evaluated(2, &["a"])), 0);
    assert_eq!(run.count(290, evaluated(3, &["a"])), 1);
    assert_eq!(run.total(), 4);
}

#[test]
fn a_limit_folds_into_a_summary_and_no_match_is_lost() {
    let mut run = Run::new(AlertPolicy { rate_limit_per_minute: 2, ..DEFAULT });
    run.count(0, evaluated(0, &["a", "b", "c", "d", "c"]));
    run.tick(1_000);
    assert_eq!(run.newest().len(), 3);
    assert_eq!(run.total(), 5);
    let newest = run.newest();
    let summary = newest.values().find(|it| it.labels.contains_key("folded")).unwrap();
    assert_eq!(summary.count, 3);
}

#[test]
fn a_dropped_record_counts_without_an_offset() {
    let mut run = Run::new(DEFAULT);
    let mut dropped = evaluated(0, &["a"]);
    dropped.matches.as_mut().unwrap()[0].offset = None;
    run.count(0, dropped);
    let newest = run.newest();
    let source = &newest.values().next().unwrap().sources[0];
    assert_eq!((source.first_offset, source.last_offset, source.count), (None, None, 1));
}
