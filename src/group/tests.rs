//! A shard as a whole: offsets, deletion, expiry, and that a replay of what it logs is what it stores.

use std::collections::BTreeMap;

use proptest::prelude::*;
use uuid::Uuid;

use super::{
    CommitOffsets, FetchOffsets, GroupError, GroupRecord, GroupState, OffsetToCommit,
    classic::{JoinRequest, State},
    harness::{Harness, SESSION_MS, new_member, rejoin, settings},
};
use crate::base::{Offset, TopicId, TopicPartition};

const RETENTION_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

fn commit(group: &str, member: &str, generation_id: i32, offset: i64) -> CommitOffsets {
    CommitOffsets {
        group_id: group.into(),
        member_id: member.into(),
        group_instance_id: None,
        generation_id,
        offsets: vec![OffsetToCommit {
            topic_partition: TopicPartition::new("t", 0),
            topic_id: Some(TopicId(Uuid::from_u128(1))),
            offset: Offset(offset),
            leader_epoch: None,
            metadata: "".into(),
        }],
        retention_time_ms: None,
        tells_missing_group: false,
    }
}

fn store(it: &mut Harness, request: &CommitOffsets) -> Result<(), GroupError> {
    let (effects, results) = it.shard.commit(request, it.now);
    it.absorb(effects);
    results.and_then(|it| it.into_iter().collect())
}

fn committed(it: &Harness, group: &str) -> Option<i64> {
    it.shard.committed(&group.into(), &TopicPartition::new("t", 0)).map(|it| it.offset.0)
}

fn expire(it: &mut Harness) {
    let effects = it.shard.expire(it.now);
    it.absorb(effects);
}

#[test]
fn offsets_are_found_again_after_a_crash() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    assert_eq!(store(&mut it, &commit("g", "a", 1, 7)), Ok(()));
    assert_eq!(store(&mut it, &commit("g", "a", 1, 9)), Ok(()));
    it.reload();
    assert_eq!(committed(&it, "g"), Some(9));
    let asked = vec![TopicPartition::new("t", 0), TopicPartition::new("t", 1)];
    let found = it.shard.fetch(fetch("g", Some(asked))).unwrap();
    assert_eq!(found.iter().map(|it| it.1.is_some()).collect::<Vec<_>>(), [true, false]);
    assert_eq!(it.shard.fetch(fetch("g", None)).unwrap().len(), 1);
    assert!(it.shard.fetch(fetch("none", None)).unwrap().is_empty());
}

fn fetch(group_id: &str, partitions: Option<Vec<TopicPartition>>) -> FetchOffsets {
    FetchOffsets { group_id: group_id.into(), member_id: None, member_epoch: -1, partitions }
}

#[test]
fn who_may_commit_depends_on_the_group_s_state() {
    let mut it = Harness::new(settings());
    let by_operator = commit("g", "", -1, 1);
    let by_member = commit("g", "a", 1, 1);
    // No such group: an operator makes one, a member has missed its end.
    assert_eq!(store(&mut it, &by_member), Err(GroupError::IllegalGeneration));
    let newer = CommitOffsets { tells_missing_group: true, ..by_member.clone() };
    assert_eq!(store(&mut it, &newer), Err(GroupError::GroupIdNotFound));
    assert_eq!(store(&mut it, &by_operator), Ok(()));

    let joined = it.join_all(vec![new_member("a"), new_member("b")]);
    assert_eq!(it.state(), State::CompletingRebalance);
    assert_eq!(store(&mut it, &by_member), Err(GroupError::RebalanceInProgress));
    assert_eq!(store(&mut it, &by_operator), Err(GroupError::UnknownMemberId));

    it.sync_all(&joined, &[]);
    assert_eq!(store(&mut it, &by_member), Ok(()));
    assert_eq!(store(&mut it, &commit("g", "a", 0, 1)), Err(GroupError::IllegalGeneration));
    assert_eq!(store(&mut it, &commit("g", "x", 1, 1)), Err(GroupError::UnknownMemberId));
    assert_eq!(store(&mut it, &by_operator), Err(GroupError::UnknownMemberId));

    it.join(new_member("c"));
    assert_eq!(it.state(), State::PreparingRebalance);
    assert_eq!(store(&mut it, &by_member), Ok(()), "a member finishes before it joins again");
}

#[test]
fn a_commit_keeps_a_session_alive() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    for _ in 0..3 {
        it.advance(SESSION_MS - 1);
        assert_eq!(store(&mut it, &commit("g", "a", 1, 1)), Ok(()));
    }
    assert_eq!(it.state(), State::Stable);
}

#[test]
fn metadata_above_the_limit_refuses_its_offset_alone() {
    let mut it = Harness::new(settings());
    let mut request = commit("g", "", -1, 1);
    let mut large = request.offsets[0].clone();
    large.topic_partition.partition = 1;
    large.metadata = "x".repeat(4_097).into();
    request.offsets.push(large);
    let (effects, results) = it.shard.commit(&request, it.now);
    it.absorb(effects);
    assert_eq!(results, Ok(vec![Ok(()), Err(GroupError::OffsetMetadataTooLarge)]));
    assert_eq!(it.log.len(), 1);
}

#[test]
fn only_a_group_without_members_can_be_deleted() {
    let mut it = Harness::new(settings());
    let delete = |it: &mut Harness, id: &str| {
        let (effects, result) = it.shard.delete(&id.into());
        it.absorb(effects);
        result
    };
    assert_eq!(delete(&mut it, "g"), Err(GroupError::GroupIdNotFound));
    it.stable(&["a"]);
    store(&mut it, &commit("g", "a", 1, 7)).unwrap();
    assert_eq!(delete(&mut it, "g"), Err(GroupError::NonEmptyGroup));
    it.leave(&["a"]);
    assert_eq!(delete(&mut it, "g"), Ok(()));
    assert_eq!((it.state(), committed(&it, "g")), (State::Dead, None));
    assert_eq!(it.shard.describe(&"g".into()), Err(GroupError::GroupIdNotFound));
    it.reload();
    assert!(it.shard.list().is_empty());
    it.assert_replayable();
}

#[test]
fn offsets_are_deleted_but_not_of_a_topic_that_members_read() {
    let mut it = Harness::new(settings());
    let delete = |it: &mut Harness, id: &str, topics: &[&str]| {
        let partitions: Vec<_> =
            topics.iter().map(|&topic| TopicPartition::new(topic, 0)).collect();
        let (effects, results) = it.shard.delete_offsets(&id.into(), &partitions);
        let written = effects.records.len();
        it.absorb(effects);
        results.map(|results| (results, written))
    };
    let subscribed = Err(GroupError::SubscribedToTopic);
    assert_eq!(delete(&mut it, "", &["t"]), Err(GroupError::InvalidGroupId));
    assert_eq!(delete(&mut it, "g", &["t"]), Err(GroupError::GroupIdNotFound));

    // Nobody has agreed on a protocol yet: what they read is not known.
    it.join(new_member("a"));
    assert_eq!(delete(&mut it, "g", &["t", "u"]), Ok((vec![subscribed.clone(); 2], 0)));
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    store(&mut it, &commit("g", "a", 1, 7)).unwrap();
    assert_eq!(delete(&mut it, "g", &["t", "u"]), Ok((vec![subscribed, Ok(())], 0)));
    assert_eq!(committed(&it, "g"), Some(7));

    it.leave(&["a"]);
    assert_eq!(delete(&mut it, "g", &["t", "u"]), Ok((vec![Ok(()); 2], 1)));
    assert_eq!(committed(&it, "g"), None);
    assert_eq!(it.state(), State::Empty, "the group stays");
    it.assert_replayable();
}

#[test]
fn offsets_of_members_that_are_no_consumers_stay_and_those_without_members_go() {
    let mut it = Harness::new(settings());
    let worker = JoinRequest { protocol_type: "connect".into(), ..new_member("a") };
    it.join(worker);
    let asked = [TopicPartition::new("t", 0)];
    assert_eq!(it.shard.delete_offsets(&"g".into(), &asked).1, Err(GroupError::NonEmptyGroup));
    store(&mut it, &commit("simple", "", -1, 7)).unwrap();
    let (effects, results) = it.shard.delete_offsets(&"simple".into(), &asked);
    it.absorb(effects);
    assert_eq!((results, committed(&it, "simple")), (Ok(vec![Ok(())]), None));
}

#[test]
fn offsets_expire_when_their_group_has_been_empty_for_long() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    store(&mut it, &commit("g", "a", 1, 7)).unwrap();
    for _ in 0..2 {
        // Read by a member: kept, however old.
        it.now.0 += RETENTION_MS;
        expire(&mut it);
        assert_eq!(committed(&it, "g"), Some(7));
    }
    it.leave(&["a"]);
    it.now.0 += RETENTION_MS - 1;
    expire(&mut it);
    assert_eq!(committed(&it, "g"), Some(7));
    it.now.0 += 1;
    expire(&mut it);
    assert_eq!((it.state(), committed(&it, "g")), (State::Dead, None));
    assert!(matches!(it.log.last(), Some(GroupRecord::GroupMetadata { value: None, .. })));
    it.assert_replayable();
}

#[test]
fn offsets_without_members_expire_by_their_commit() {
    let mut it = Harness::new(settings());
    store(&mut it, &commit("g", "", -1, 7)).unwrap();
    let short = CommitOffsets { retention_time_ms: Some(1_000), ..commit("h", "", -1, 7) };
    store(&mut it, &short).unwrap();
    store(&mut it, &commit("klamm.transform.t.mask", "", -1, 7)).unwrap();
    it.now.0 += 1_000;
    expire(&mut it);
    assert_eq!((committed(&it, "g"), committed(&it, "h")), (Some(7), None));
    it.now.0 += RETENTION_MS;
    expire(&mut it);
    assert_eq!(committed(&it, "g"), None);
    assert_eq!(committed(&it, "klamm.transform.t.mask"), Some(7), "never expired");
}

#[test]
fn offsets_go_with_their_topic() {
    let mut it = Harness::new(settings());
    store(&mut it, &commit("g", "", -1, 7)).unwrap();
    let gone = |id| BTreeMap::from([("t".into(), TopicId(Uuid::from_u128(id)))]);
    let effects = it.shard.topics_deleted(&gone(2));
    it.absorb(effects);
    assert_eq!(committed(&it, "g"), Some(7), "another topic had that name");
    let effects = it.shard.topics_deleted(&gone(1));
    it.absorb(effects);
    assert_eq!(committed(&it, "g"), None);
    it.assert_replayable();
}

#[test]
fn a_list_tells_groups_with_members_and_those_with_offsets_only() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    store(&mut it, &commit("simple", "", -1, 7)).unwrap();
    let mut listed = it.shard.list();
    listed.sort_by(|a, b| a.group_id.cmp(&b.group_id));
    let told: Vec<_> =
        listed.iter().map(|it| (it.group_id.as_str(), &*it.protocol_type, it.state)).collect();
    assert_eq!(
        told,
        [("g", "consumer", State::Stable), ("simple", "", State::Empty)].map(|it| (
            it.0,
            it.1,
            GroupState::Classic(it.2)
        ))
    );
}

#[test]
fn members_tell_their_metadata_only_when_the_group_is_stable() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    let group = it.shard.describe(&"g".into()).unwrap();
    assert_eq!((&*group.protocol, &group.members[0].assignment[..]), ("range", &b"a"[..]));
    it.join(new_member("b"));
    let group = it.shard.describe(&"g".into()).unwrap();
    assert_eq!((&*group.protocol, group.members.len()), ("", 2));
    assert!(group.members.iter().all(|it| it.metadata.is_empty() && it.assignment.is_empty()));
}

/// What clients and time may do to a group of at most five members.
#[derive(Clone, Debug)]
enum Act {
    Join(u8),
    Rejoin(u8),
    Sync(u8),
    Heartbeat(u8),
    Leave(u8),
    Commit(u8),
    Advance(u16),
    Crash,
    Expire,
}

fn any_act() -> impl Strategy<Value = Act> {
    let member = || 0u8..5;
    prop_oneof![
        3 => member().prop_map(Act::Join),
        4 => member().prop_map(Act::Rejoin),
        6 => member().prop_map(Act::Sync),
        3 => member().prop_map(Act::Heartbeat),
        1 => member().prop_map(Act::Leave),
        2 => member().prop_map(Act::Commit),
        4 => (1u16..20_000).prop_map(Act::Advance),
        1 => Just(Act::Crash),
        1 => Just(Act::Expire),
    ]
}

fn act(it: &mut Harness, act: Act) {
    let id = |n: u8| format!("m{n}");
    match act {
        Act::Join(n) => {
            let taken =
                it.shard.group("g").is_some_and(|g| g.members().any(|m| m.id.as_str() == id(n)));
            it.join(if taken { rejoin(&id(n)) } else { new_member(&id(n)) });
        }
        Act::Rejoin(n) => {
            it.join(rejoin(&id(n)));
        }
        Act::Sync(n) => {
            let mut request = super::harness::sync(&id(n), it.generation());
            request.assignments = (0..5).map(|n| (id(n).as_str().into(), vec![n].into())).collect();
            it.sync(request);
        }
        Act::Heartbeat(n) => {
            let _ = it.heartbeat(&id(n), it.generation());
        }
        Act::Leave(n) => {
            if it.shard.group("g").is_some() {
                it.leave(&[&id(n)]);
            }
        }
        Act::Commit(n) => {
            let request = commit("g", &id(n), it.generation(), i64::from(n));
            let _ = store(it, &request);
        }
        Act::Advance(ms) => it.advance(ms.into()),
        Act::Crash => it.reload(),
        Act::Expire => expire(it),
    }
}

/// Everyone who is still a member joins and syncs, as living clients do.
fn settle(it: &mut Harness) {
    for _ in 0..5 {
        let ids: Vec<String> = match it.shard.group("g") {
            Some(group) => group.members().map(|it| it.id.to_string()).collect(),
            None => return,
        };
        if it.state() == State::Stable || ids.is_empty() && it.state() == State::Empty {
            return;
        }
        for id in &ids {
            it.join(rejoin(id));
        }
        it.advance(60_000);
        for id in &ids {
            it.sync(super::harness::sync(id, it.generation()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_a_replay_is_what_is_stored_and_the_group_settles(
        acts in proptest::collection::vec(any_act(), 1..60),
    ) {
        let mut it = Harness::new(settings());
        let mut generation_id = 0;
        for one in acts {
            let lost = matches!(one, Act::Crash);
            act(&mut it, one);
            it.assert_replayable();
            let now = it.generation();
            // A crash may forget a generation that nobody was assigned in, and a deleted group begins anew.
            prop_assert!(lost || now >= generation_id || it.state() == State::Dead);
            generation_id = now;
        }
        settle(&mut it);
        prop_assert!(
            matches!(it.state(), State::Stable | State::Empty | State::Dead),
            "settled in {}", it.state()
        );
    }
}
