//! The topics that a group reads come, grow and go.

use super::*;
use crate::group::GroupError;

fn reading(id: &str, topics: &[&str]) -> ConsumerHeartbeatRequest {
    let names = topics.iter().map(|&it| it.into()).collect();
    ConsumerHeartbeatRequest { subscribed_topic_names: Some(names), ..join(id) }
}

fn matching(id: &str, regex: &str) -> ConsumerHeartbeatRequest {
    ConsumerHeartbeatRequest {
        subscribed_topic_names: None,
        subscribed_topic_regex: Some(regex.into()),
        ..join(id)
    }
}

#[test]
fn a_topic_that_grows_begins_an_epoch() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    it.topic(T, "t", Some(3));
    let answer = it.consume(&owning("a", 1, 0..2)).unwrap();
    assert_eq!((answer.member_epoch, answer.assignment), (2, Some(of_t(0..3))));
}

#[test]
fn a_topic_that_nobody_reads_is_nothing_to_the_group() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    it.topic(U, "u", Some(3));
    assert_eq!(it.consume(&beat("a", 1)).unwrap().member_epoch, 1);
}

#[test]
fn the_hash_of_the_topics_survives_a_crash() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    it.reload();
    assert_eq!(it.consume(&beat("a", 1)).unwrap().member_epoch, 1);
    it.reload();
    it.topic(T, "t", Some(3));
    it.consume(&beat("a", 1)).unwrap();
    assert_eq!(described(&it).group_epoch, 2);
}

#[test]
fn a_topic_made_again_under_its_name_is_another() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    it.topic(T, "t", None);
    it.topic(U, "t", Some(2));
    it.consume(&owning("a", 1, 0..2)).unwrap();
    let answer = it.consume(&owning("a", 1, [])).unwrap();
    assert_eq!(answer.assignment, Some([(U, 0), (U, 1)].into_iter().collect()));
}

#[test]
fn who_subscribes_to_other_topics_gives_the_first_ones_up() {
    let mut it = harness(2);
    it.topic(U, "u", Some(1));
    it.consume(&join("a")).unwrap();
    let changed = ConsumerHeartbeatRequest {
        member_epoch: 1,
        topic_partitions: Some(of_t(0..2)),
        ..reading("a", &["u"])
    };
    assert_eq!(it.consume(&changed).unwrap().assignment, Some(of_t([])));
    let answer = it.consume(&owning("a", 1, [])).unwrap();
    assert_eq!((answer.member_epoch, answer.assignment), (2, Some([(U, 0)].into_iter().collect())));
}

#[test]
fn a_member_without_topics_is_a_member() {
    let mut it = harness(2);
    let answer = it.consume(&reading("a", &[])).unwrap();
    assert_eq!((answer.member_epoch, answer.assignment), (1, Some(of_t([]))));
    assert_eq!(state(&it), ConsumerGroupState::Stable);
}

#[test]
fn a_regular_expression_finds_topics_that_come_later() {
    let mut it = harness(1);
    let answer = it.consume(&matching("a", "t|u.*")).unwrap();
    assert_eq!(answer.assignment, Some(of_t([0])));
    it.topic(U, "u1", Some(1));
    assert_eq!(it.consume(&beat("a", 1)).unwrap().assignment, None, "topics were matched just now");
    it.advance(10_000);
    let answer = it.consume(&beat("a", 1)).unwrap();
    assert_eq!(answer.assignment, Some([(T, 0), (U, 0)].into_iter().collect()));
}

#[test]
fn a_regular_expression_finds_only_what_the_member_may_describe() {
    let mut it = harness(1);
    it.topic(U, "u", Some(1));
    let request = ConsumerHeartbeatRequest {
        may_describe: TopicFilter(Arc::new(|it| it.as_str() == "u")),
        ..matching("a", ".*")
    };
    let answer = it.consume(&request).unwrap();
    assert_eq!(answer.assignment, Some([(U, 0)].into_iter().collect()));
}

#[test]
fn what_an_expression_matches_is_looked_up_now_and_then_since_rights_change_unseen() {
    let mut it = Harness::new({
        let mut settings = settings();
        settings.consumer.regex_refresh_interval_ms = 30_000;
        settings
    });
    it.topic(U, "u", Some(1));
    let nothing = TopicFilter(Arc::new(|_| false));
    it.consume(&ConsumerHeartbeatRequest { may_describe: nothing, ..matching("a", ".*") }).unwrap();
    it.advance(29_999);
    assert_eq!(it.consume(&beat("a", 1)).unwrap().assignment, None);
    it.advance(1);
    let told = it.consume(&beat("a", 1)).unwrap();
    assert_eq!((told.member_epoch, told.assignment), (2, Some([(U, 0)].into_iter().collect())));
}

#[test]
fn a_malformed_regular_expression_is_refused_and_joins_nobody() {
    let mut it = harness(1);
    let refused = it.consume(&matching("a", "(")).unwrap_err();
    assert!(matches!(refused, GroupError::InvalidRegularExpression(_)), "{refused}");
    assert_eq!(it.shard.describe_consumer(&"g".into()), Err(GroupError::GroupIdNotFound));
}

#[test]
fn what_no_member_matches_any_more_is_forgotten() {
    let mut it = harness(1);
    it.consume(&matching("a", "t.*")).unwrap();
    it.consume(&matching("b", "u.*")).unwrap();
    it.consume(&beat("b", -1)).unwrap();
    let ended =
        ConsumerHeartbeatRequest { subscribed_topic_regex: Some("".into()), ..owning("a", 1, [0]) };
    it.consume(&ended).unwrap();
    let group = it.shard.consumer_group("g").unwrap();
    assert!(group.regexes.is_empty(), "{:?}", group.regexes);
    assert!(group.subscribed_topics().is_empty());
}
