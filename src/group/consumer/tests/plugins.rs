//! Groups whose partitions a plugin assigns.

use std::collections::BTreeSet;

use super::*;
use crate::group::{
    Effects,
    consumer::{ConsumerAnswer, assignor::Assignments},
};

/// The assignor plugin `p` is loaded.
fn assignors(configured: Option<&str>) -> Assignors {
    let loaded = BTreeSet::from(["p".into()]);
    Assignors { configured: configured.map(Into::into), loaded: loaded.into() }
}

/// The group's `klamm.assignor` is `p`.
fn by_config(request: ConsumerHeartbeatRequest) -> ConsumerHeartbeatRequest {
    ConsumerHeartbeatRequest { assignors: assignors(Some("p")), ..request }
}

fn assignments(of: &[(&str, &[i32])]) -> Assignments {
    of.iter().map(|&(id, it)| (id.into(), of_t(it.iter().copied()))).collect()
}

/// The answer to the newest question.
fn answer(it: &mut Harness, result: Result<Assignments, String>) {
    let ask = it.consumer_asks.pop().expect("a plugin is asked");
    let answer = ConsumerAnswer {
        group_id: ask.group_id,
        group_epoch: ask.group_epoch,
        question: ask.question,
        assignor: ask.assignor,
        result,
    };
    let effects = it.shard.consumer_assigned(answer, it.now);
    it.absorb(effects);
}

#[test]
fn the_first_members_wait_for_the_plugin_with_nothing() {
    let mut it = harness(2);
    let first = it.consume(&by_config(join("a"))).unwrap();
    assert_eq!((first.member_epoch, first.assignment), (1, Some(of_t([]))));
    assert_eq!(state(&it), ConsumerGroupState::Assigning);
    let ask = it.consumer_asks.last().unwrap().clone();
    assert_eq!((ask.assignor.as_str(), ask.group_epoch), ("p", 2));
    answer(&mut it, Ok(assignments(&[("a", &[1])])));
    let answer = it.consume(&by_config(beat("a", 1))).unwrap();
    assert_eq!((answer.member_epoch, answer.assignment), (2, Some(of_t([1]))));
    assert_eq!(state(&it), ConsumerGroupState::Stable);
}

#[test]
fn members_may_choose_a_plugin_and_a_config_of_the_group_overrules_them() {
    let choosing = |id: &str, configured| ConsumerHeartbeatRequest {
        server_assignor: Some("p".into()),
        assignors: assignors(configured),
        ..join(id)
    };
    let mut it = harness(2);
    it.consume(&choosing("a", None)).unwrap();
    assert_eq!(it.consumer_asks.len(), 1);
    let mut it = harness(2);
    it.consume(&choosing("a", Some("uniform"))).unwrap();
    assert!(it.consumer_asks.is_empty());
    assert_eq!(state(&it), ConsumerGroupState::Stable);
}

#[test]
fn one_question_is_open_at_a_time_and_an_answer_of_an_older_epoch_is_dropped() {
    let mut it = harness(2);
    it.consume(&by_config(join("a"))).unwrap();
    it.consume(&by_config(join("b"))).unwrap();
    assert_eq!(it.consumer_asks.len(), 1);
    answer(&mut it, Ok(assignments(&[("a", &[0, 1])])));
    assert_eq!(state(&it), ConsumerGroupState::Assigning);
    it.consume(&by_config(beat("b", 1))).unwrap();
    answer(&mut it, Ok(assignments(&[("a", &[0]), ("b", &[1])])));
    let b = it.consume(&by_config(beat("b", 1))).unwrap();
    assert_eq!((b.member_epoch, b.assignment), (3, Some(of_t([1]))));
}

#[test]
fn members_keep_what_they_have_while_the_plugin_thinks_and_when_it_fails() {
    let mut it = harness(4);
    it.consume(&by_config(join("a"))).unwrap();
    answer(&mut it, Ok(assignments(&[("a", &[0, 1, 2, 3])])));
    it.consume(&by_config(beat("a", 1))).unwrap();
    it.topic(T, "t", Some(6));
    it.consume(&by_config(join("b"))).unwrap();
    let a = it.consume(&by_config(owning("a", 2, 0..4))).unwrap();
    assert_eq!((a.member_epoch, a.assignment), (2, None));
    answer(&mut it, Err("it trapped".into()));
    let a = it.consume(&by_config(owning("a", 2, 0..4))).unwrap();
    assert_eq!((a.member_epoch, a.assignment), (3, None));
    let b = it.consume(&by_config(beat("b", 2))).unwrap();
    assert_eq!(b.assignment, Some(of_t(4..6)));
}

#[test]
fn a_question_that_a_crash_forgot_is_asked_again() {
    let mut it = harness(2);
    it.consume(&by_config(join("a"))).unwrap();
    it.reload();
    it.consume(&by_config(beat("a", 1))).unwrap();
    answer(&mut it, Ok(assignments(&[("a", &[0, 1])])));
    assert_eq!(state(&it), ConsumerGroupState::Reconciling);
}

/// Stable with plugin `p`, which has just another version.
fn reloaded(it: &mut Harness) {
    it.consume(&by_config(join("a"))).unwrap();
    answer(it, Ok(assignments(&[("a", &[0])])));
    it.consume(&by_config(beat("a", 1))).unwrap();
    it.shard.consumer_assignor_changed(&"g".into());
    it.consume(&by_config(beat("a", 2))).unwrap();
}

#[test]
fn a_new_version_that_says_the_same_changes_nothing() {
    let mut it = harness(2);
    reloaded(&mut it);
    let stored = it.log.len();
    answer(&mut it, Ok(assignments(&[("a", &[0])])));
    it.consume(&by_config(beat("a", 2))).unwrap();
    assert_eq!((it.log.len(), it.consumer_asks.len()), (stored, 0));
}

#[test]
fn a_new_version_that_says_something_else_begins_an_epoch() {
    let mut it = harness(2);
    reloaded(&mut it);
    answer(&mut it, Ok(assignments(&[("a", &[0, 1])])));
    let told = it.consume(&by_config(beat("a", 2))).unwrap();
    assert_eq!((told.member_epoch, told.assignment), (3, Some(of_t(0..2))));
}

#[test]
fn a_new_version_that_fails_changes_nothing() {
    let mut it = harness(2);
    reloaded(&mut it);
    answer(&mut it, Err("it trapped".into()));
    assert_eq!(it.consume(&by_config(beat("a", 2))).unwrap().member_epoch, 2);
}

#[test]
fn new_versions_are_asked_only_so_often() {
    let mut it = harness(2);
    reloaded(&mut it);
    answer(&mut it, Ok(assignments(&[("a", &[0])])));
    it.shard.consumer_assignor_changed(&"g".into());
    it.consume(&by_config(beat("a", 2))).unwrap();
    assert!(it.consumer_asks.is_empty());
    let interval = it.settings.assignor_rebalance_interval_ms as i64;
    it.advance(interval);
    if described(&it).members.is_empty() {
        it.consume(&by_config(join("a"))).unwrap();
    } else {
        it.consume(&by_config(beat("a", 2))).unwrap();
    }
    assert_eq!(it.consumer_asks.len(), 1);
}

#[test]
fn a_group_that_no_plugin_assigns_any_more_is_assigned_at_once() {
    let mut it = harness(2);
    reloaded(&mut it);
    answer(&mut it, Ok(assignments(&[("a", &[0])])));
    it.shard.consumer_assignor_changed(&"g".into());
    let interval = it.settings.assignor_rebalance_interval_ms as i64;
    it.advance(interval.min(40_000));
    let told = it.consume(&beat("a", 2)).unwrap();
    assert_eq!((told.member_epoch, told.assignment), (3, Some(of_t(0..2))));
}

#[test]
fn an_answer_that_nobody_waits_for_is_nothing() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    let answer = ConsumerAnswer {
        group_id: "g".into(),
        group_epoch: 1,
        question: 1,
        assignor: "p".into(),
        result: Ok(assignments(&[("a", &[])])),
    };
    assert_eq!(it.shard.consumer_assigned(answer, it.now), Effects::default());
}
