//! Kafka's errors of `ConsumerGroupHeartbeat`, as a table.

use super::*;
use crate::group::GroupError::{
    self, FencedInstanceId, FencedMemberEpoch, GroupIdNotFound, GroupMaxSizeReached,
    UnknownMemberId, UnreleasedInstanceId, UnsupportedAssignor,
};

/// Group `g` of member `a`, and of `s` with instance id `i`, both in epoch 3 after epoch 2.
fn group() -> Harness {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    it.consume(&with_instance(join("s"), "i")).unwrap();
    it.consume(&owning("a", 1, [0])).unwrap();
    it.topic(T, "t", Some(4));
    let s = it.consume(&with_instance(beat("s", 2), "i")).unwrap();
    let a = it.consume(&owning("a", 2, [0])).unwrap();
    assert_eq!((a.member_epoch, s.member_epoch), (3, 3));
    it
}

#[track_caller]
fn check(request: &ConsumerHeartbeatRequest, want: &GroupError) {
    let mut it = group();
    let stored = it.log.len();
    assert_eq!(it.consume(request).as_ref(), Err(want), "{request:?}");
    assert_eq!(it.log.len(), stored);
}

#[test]
fn what_is_told_wrong_is_refused_in_kafkas_words() {
    let invalid = [
        (ConsumerHeartbeatRequest { group_id: " ".into(), ..join("b") }, "GroupId can't be empty."),
        (join(""), "MemberId can't be empty."),
        (ConsumerHeartbeatRequest { api_version: 0, ..beat("", 1) }, "MemberId can't be empty."),
        (ConsumerHeartbeatRequest { api_version: 0, ..beat("", -1) }, "MemberId can't be empty."),
        (with_instance(join("b"), ""), "InstanceId can't be empty."),
        (
            ConsumerHeartbeatRequest { rack_id: Some("".into()), ..join("b") },
            "RackId can't be empty.",
        ),
        (
            ConsumerHeartbeatRequest { rebalance_timeout_ms: None, ..join("b") },
            "RebalanceTimeoutMs must be provided in first request.",
        ),
        (
            ConsumerHeartbeatRequest { topic_partitions: None, ..join("b") },
            "TopicPartitions must be empty when (re-)joining.",
        ),
        (
            ConsumerHeartbeatRequest { topic_partitions: Some(of_t([0])), ..join("b") },
            "TopicPartitions must be empty when (re-)joining.",
        ),
        (
            ConsumerHeartbeatRequest { subscribed_topic_names: None, ..join("b") },
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        (beat("a", -2), "InstanceId can't be null."),
        (beat("a", -3), "MemberEpoch is invalid."),
    ];
    for (request, text) in invalid {
        check(&request, &GroupError::InvalidRequest(text.into()));
    }
}

#[test]
fn who_is_not_what_it_believes_is_told() {
    let of_nobody = |request| ConsumerHeartbeatRequest { group_id: "none".into(), ..request };
    let assignor =
        |name: &str| ConsumerHeartbeatRequest { server_assignor: Some(name.into()), ..join("b") };
    for (request, want) in [
        (assignor("sticky"), UnsupportedAssignor),
        (of_nobody(beat("a", 3)), GroupIdNotFound),
        (of_nobody(beat("a", -1)), GroupIdNotFound),
        (beat("b", 3), UnknownMemberId),
        (beat("b", -1), UnknownMemberId),
        (beat("a", 4), FencedMemberEpoch),
        (beat("a", 1), FencedMemberEpoch),
        // The epoch before is good for who owns nothing that it must not, and says so.
        (beat("a", 2), FencedMemberEpoch),
        (owning("a", 2, [0, 1]), FencedMemberEpoch),
        (join("a"), FencedMemberEpoch),
        (with_instance(join("b"), "i"), UnreleasedInstanceId),
        (with_instance(beat("a", 3), "i"), FencedInstanceId),
        (with_instance(beat("a", -1), "i"), FencedInstanceId),
        (with_instance(beat("a", -2), "i"), FencedInstanceId),
        (with_instance(beat("s", 3), "other"), UnknownMemberId),
        (with_instance(beat("s", -2), "other"), UnknownMemberId),
    ] {
        check(&request, &want);
    }
}

#[test]
fn the_epoch_before_is_good_for_who_says_that_it_owns_nothing_else() {
    let mut it = group();
    assert_eq!(it.consume(&owning("a", 2, [0])).unwrap().member_epoch, 3);
}

#[test]
fn a_full_group_takes_nobody_else() {
    let mut it = Harness::new({
        let mut settings = settings();
        settings.consumer.max_size = 1;
        settings
    });
    it.consume(&join("a")).unwrap();
    assert_eq!(it.consume(&join("b")), Err(GroupMaxSizeReached));
    it.consume(&beat("a", 1)).unwrap();
}

#[test]
fn an_assignor_that_the_node_does_not_offer_is_refused_though_it_is_built_in() {
    let mut it = Harness::new({
        let mut settings = settings();
        settings.consumer.assignors = vec!["range".into()];
        settings
    });
    let choosing = |assignor: &str| ConsumerHeartbeatRequest {
        server_assignor: Some(assignor.into()),
        ..join("a")
    };
    assert_eq!(it.consume(&choosing("uniform")), Err(UnsupportedAssignor));
    it.consume(&choosing("range")).unwrap();
}

#[test]
fn a_member_in_a_state_of_a_newer_version_begins_anew() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    for record in &mut it.log {
        if let crate::group::GroupRecord::ConsumerCurrent { value: Some(current), .. } = record {
            current.state = crate::group::MemberState::Unknown;
        }
    }
    it.reload();
    assert_eq!(it.consume(&beat("a", 1)), Err(FencedMemberEpoch));
    assert_eq!(it.consume(&owning("a", 1, [0])), Err(FencedMemberEpoch));
    it.consume(&owning("a", 1, [])).unwrap();
    assert_eq!(state(&it), ConsumerGroupState::Stable);
}
