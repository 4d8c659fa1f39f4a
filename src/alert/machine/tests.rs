//! Counting, folding, firing and ending alerts, by requests and replayed records.

use uuid::Uuid;

use super::*;
use crate::{
    alert::{AlertState, PendingAlert, Severity},
    base::TopicPartition,
};

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

/// Partition 0 of the `n`th topic of the name.
fn watched(n: u128) -> Watched {
    Watched {
        topic_id: TopicId(Uuid::from_u128(n)),
        source: TopicPartition::new("logs", 0),
        plugin: "log-alert".into(),
    }
}

fn evaluated(from: i64, fingerprints: &[&str]) -> Evaluated {
    let matches: Vec<Match> =
        fingerprints.iter().zip(from..).map(|(it, offset)| found(it, offset)).collect();
    Evaluated {
        watched: watched(1),
        from: Offset(from),
        to: Offset(from + matches.len() as i64),
        matches: Some(matches),
    }
}

/// Drives the machine as its runtime does, and keeps what was logged.
struct Run {
    alerts: Alerts,
    policy: AlertPolicy,
    log: Vec<Logged>,
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

    /// How many records for consumers are logged.
    fn tick(&mut self, at: i64) -> usize {
        let policy = self.policy.clone();
        let records = self.alerts.tick(TimestampMs(at), &|_| policy.clone());
        for record in &records {
            self.alerts.replay(record.clone(), TimestampMs(at));
        }
        let count = records.iter().filter(|it| matches!(it, Logged::Alert(..))).count();
        self.log.extend(records);
        count
    }

    /// A restart: what was logged is all that is left.
    fn restart(&mut self, at: i64) {
        self.alerts = Alerts::default();
        for record in &self.log {
            self.alerts.replay(record.clone(), TimestampMs(at));
        }
        let policy = self.policy.clone();
        self.alerts.loaded(&|_| policy.clone());
    }

    fn newest(&self) -> BTreeMap<Fingerprint, AlertRecord> {
        let alerts = self.log.iter().filter_map(|it| match it {
            Logged::Alert(key, alert) => Some((key.clone(), alert.clone())),
            Logged::Pending(_) => None,
        });
        let newest: BTreeMap<_, _> = alerts.collect();
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

#[test]
fn matches_that_have_not_fired_survive_a_restart() {
    let mut run = Run::new(AlertPolicy { for_count: 3, within_ms: 60_000, ..DEFAULT });
    assert_eq!(run.count(0, evaluated(0, &["a"])), 0);
    assert_eq!(run.count(2_000, evaluated(1, &["a"])), 0);
    run.restart(3_000);
    // What was counted comes again, and the third.
    assert_eq!(run.count(3_000, evaluated(0, &["a", "a", "a"])), 1);
    assert_eq!(run.total(), 3);
}

#[test]
fn matches_that_have_not_fired_are_too_old_after_a_restart_as_before() {
    let mut run = Run::new(AlertPolicy { for_count: 2, within_ms: 5_000, ..DEFAULT });
    run.count(0, evaluated(0, &["a"]));
    run.restart(6_000);
    assert_eq!(run.count(6_000, evaluated(1, &["a"])), 0);
    assert_eq!(run.count(6_500, evaluated(2, &["a"])), 1);
    assert_eq!(run.total(), 3);
}

#[test]
fn progress_waits_for_matches_that_have_not_fired() {
    let mut run = Run::new(AlertPolicy { for_count: 9, ..DEFAULT });
    run.count(0, evaluated(0, &["a"]));
    run.count(5, evaluated(1, &["a"]));
    assert!(run.alerts.take_progress(TimestampMs(5)).is_some_and(|it| it[&watched(1)].0 == 1));
    assert_eq!(run.alerts.take_progress(TimestampMs(999)), None);
    run.tick(1_000);
    assert!(run.alerts.take_progress(TimestampMs(1_000)).is_some_and(|it| it[&watched(1)].0 == 2));
    let Some(Logged::Pending(PendingAlert { alert, matched_at })) = run.log.last() else {
        panic!("the newest record is no alert yet")
    };
    assert_eq!((alert.count, matched_at.len()), (2, 2));
}

#[test]
fn an_alert_that_ended_shortly_before_a_restart_fires_again_at_once() {
    let policy = AlertPolicy { for_count: 2, dedup_ms: 20_000, ..DEFAULT };
    let mut run = Run::new(policy);
    assert_eq!(run.count(0, evaluated(0, &["a", "a"])), 1);
    assert_eq!(run.tick(10_000), 1);
    run.restart(11_000);
    assert_eq!(run.count(12_000, evaluated(2, &["a"])), 1);
    assert_eq!(run.newest().into_values().next().unwrap().state, AlertState::Firing);
}

#[test]
fn a_topic_that_is_made_again_is_counted_from_its_start() {
    let mut run = Run::new(DEFAULT);
    run.count(0, evaluated(7, &["a", "a"]));
    run.count(5_000, Evaluated { watched: watched(2), ..evaluated(0, &["a"]) });
    let alert = run.newest().into_values().next().unwrap();
    assert_eq!((alert.count, alert.sources[0].last_offset), (1, Some(0)));
    assert_eq!(alert.first_timestamp_ms, 0);
}

#[test]
fn progress_that_is_forgotten_is_not_told() {
    let mut run = Run::new(DEFAULT);
    run.count(0, evaluated(0, &["a"]));
    run.alerts.forget_progress(&"logs".into(), &"log-alert".into());
    assert_eq!(run.alerts.take_progress(TimestampMs(0)), Some(Progress::new()));
}

/// A verdict of its own for each of `count` fingerprints.
fn many(count: usize) -> Vec<String> {
    (0..count).map(|it| format!("f{it}")).collect()
}

#[test]
fn above_the_bound_new_alerts_are_folded_and_quiet_ones_make_room() {
    let mut run = Run::new(DEFAULT);
    let prints = many(ALERTS_MAX + 5);
    let prints: Vec<&str> = prints.iter().map(String::as_str).collect();
    run.count(0, evaluated(0, &prints));
    run.tick(1_000);
    assert_eq!(run.total(), prints.len() as u64);
    assert_eq!(run.alerts.entries.len(), ALERTS_MAX + 1);
    let summary = run.newest().into_values().find(|it| it.labels.contains_key("folded")).unwrap();
    assert_eq!(summary.count, 5);
    // All end; the next look forgets enough of them.
    run.tick(20_000);
    run.tick(22_000);
    assert!(run.alerts.entries.len() < ALERTS_MAX);
    run.count(30_000, evaluated(100_000, &["new"]));
    assert!(run.newest().contains_key(&Fingerprint::of(&found("new", 0))));
}
