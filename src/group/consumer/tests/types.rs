//! A group has one type, and changes it when it is empty.

use super::*;
use crate::group::{
    GroupError, GroupState,
    classic::State,
    harness::{INITIAL_DELAY_MS, new_member},
};

fn listed(it: &Harness) -> Vec<GroupState> {
    it.shard.list().into_iter().map(|it| it.state).collect()
}

#[test]
fn an_empty_classic_group_becomes_a_consumer_group_and_nothing_of_it_is_left() {
    let mut it = harness(1);
    it.stable(&["m"]);
    it.leave(&["m"]);
    it.consume(&join("a")).unwrap();
    assert_eq!(listed(&it), [GroupState::Consumer(ConsumerGroupState::Stable)]);
    assert_eq!(it.shard.describe(&"g".into()), Err(GroupError::OtherGroupType));
    it.reload();
    assert_eq!(listed(&it), [GroupState::Consumer(ConsumerGroupState::Stable)]);
}

#[test]
fn an_empty_consumer_group_becomes_a_classic_group_and_nothing_of_it_is_left() {
    let mut it = harness(1);
    it.consume(&join("a")).unwrap();
    it.consume(&beat("a", -1)).unwrap();
    it.stable(&["m"]);
    assert_eq!(listed(&it), [GroupState::Classic(State::Stable)]);
    assert_eq!(it.shard.describe_consumer(&"g".into()), Err(GroupError::OtherGroupType));
    it.reload();
    assert_eq!(listed(&it), [GroupState::Classic(State::Stable)]);
    it.assert_replayable();
}

#[test]
fn a_group_is_deleted_with_all_its_records_once_it_is_empty() {
    let mut it = harness(1);
    it.consume(&join("a")).unwrap();
    assert_eq!(it.shard.delete(&"g".into()).1, Err(GroupError::NonEmptyGroup));
    it.consume(&beat("a", -1)).unwrap();
    let (effects, result) = it.shard.delete(&"g".into());
    assert_eq!(result, Ok(()));
    it.absorb(effects);
    assert!(it.shard.list().is_empty());
    it.reload();
    assert!(it.shard.list().is_empty());
}

#[test]
fn an_empty_group_without_offsets_expires() {
    let mut it = harness(1);
    it.consume(&join("a")).unwrap();
    let effects = it.shard.expire(it.now);
    it.absorb(effects);
    assert_eq!(listed(&it).len(), 1);
    it.consume(&beat("a", -1)).unwrap();
    let effects = it.shard.expire(it.now);
    it.absorb(effects);
    assert!(listed(&it).is_empty());
}

#[test]
fn a_refused_join_of_the_other_protocol_leaves_an_empty_group_as_it_was() {
    let mut it = harness(1);
    let joining = it.join(new_member("m"));
    assert_eq!(it.consume(&join("a")), Err(GroupError::GroupIdNotFound));
    it.advance(INITIAL_DELAY_MS * 2);
    it.joined(joining).unwrap().unwrap();
}
