//! Members come, go, and hand partitions over.

use super::*;
use crate::group::{GroupError, classic::LeavingMember, consumer::ConsumerHeartbeat};

/// All of them beat and obey in turn until nothing moves any more.
fn settle(it: &mut Harness, clients: &mut [Client]) {
    for _ in 0..20 {
        for client in &mut *clients {
            client.beat(it);
            client.obey();
        }
    }
    assert_eq!(state(it), ConsumerGroupState::Stable);
}

#[test]
fn the_first_member_gets_everything_at_once() {
    let mut it = harness(3);
    let answer = it.consume(&join("a")).unwrap();
    let all = Some(of_t(0..3));
    let want = ConsumerHeartbeat {
        member_id: "a".into(),
        member_epoch: 1,
        heartbeat_interval_ms: 5_000,
        assignment: all,
    };
    assert_eq!(answer, want);
    assert_eq!(state(&it), ConsumerGroupState::Stable);
}

#[test]
fn an_assignment_is_told_once_unless_the_member_tells_everything() {
    let mut it = harness(3);
    it.consume(&join("a")).unwrap();
    assert_eq!(it.consume(&beat("a", 1)).unwrap().assignment, None);
    assert_eq!(it.consume(&owning("a", 1, 0..3)).unwrap().assignment, None);
    let full = ConsumerHeartbeatRequest {
        member_epoch: 1,
        topic_partitions: Some(of_t(0..3)),
        ..join("a")
    };
    assert_eq!(it.consume(&full).unwrap().assignment, Some(of_t(0..3)));
}

#[test]
fn a_heartbeat_that_changes_nothing_stores_nothing() {
    let mut it = harness(3);
    it.consume(&join("a")).unwrap();
    let stored = it.log.len();
    it.consume(&owning("a", 1, 0..3)).unwrap();
    assert_eq!(it.log.len(), stored);
}

#[test]
fn a_partition_moves_only_after_its_owner_has_given_it_up() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    let b = it.consume(&join("b")).unwrap();
    assert_eq!((b.member_epoch, b.assignment), (2, Some(of_t([]))));
    let a = it.consume(&owning("a", 1, 0..2)).unwrap();
    let kept = a.assignment.expect("a is told to give one up");
    assert_eq!((a.member_epoch, kept.count()), (1, 1));
    assert_eq!(it.consume(&beat("b", 2)).unwrap().assignment, None, "a has not given it up yet");
    assert_eq!(state(&it), ConsumerGroupState::Reconciling);
    let still = kept.iter().map(|it| it.1);
    assert_eq!(it.consume(&owning("a", 1, still)).unwrap().member_epoch, 2);
    let b = it.consume(&beat("b", 2)).unwrap().assignment.expect("it is free now");
    assert!(!b.intersects(&kept));
    assert_eq!(state(&it), ConsumerGroupState::Stable);
}

#[test]
fn who_does_not_give_up_in_time_is_fenced() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    it.consume(&join("b")).unwrap();
    it.consume(&owning("a", 1, 0..2)).unwrap();
    it.advance(9_999);
    it.consume(&owning("a", 1, 0..2)).unwrap();
    it.consume(&beat("b", 2)).unwrap();
    it.advance(1);
    assert_eq!(it.consume(&owning("a", 1, 0..2)), Err(GroupError::UnknownMemberId));
    assert_eq!(it.consume(&beat("b", 2)).unwrap().assignment, Some(of_t(0..2)));
}

#[test]
fn a_member_that_is_not_heard_of_is_out() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    it.advance(44_999);
    it.consume(&beat("a", 1)).unwrap();
    it.advance(44_999);
    assert_eq!(state(&it), ConsumerGroupState::Stable);
    it.advance(1);
    assert_eq!(state(&it), ConsumerGroupState::Empty);
    assert_eq!(it.consume(&beat("a", 1)), Err(GroupError::UnknownMemberId));
}

#[test]
fn a_crash_forgets_no_epoch_and_sessions_begin_anew() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    it.advance(40_000);
    it.reload();
    it.advance(44_000);
    assert_eq!(it.consume(&beat("a", 1)).unwrap().member_epoch, 1);
    it.advance(45_000);
    assert_eq!(state(&it), ConsumerGroupState::Empty);
}

#[test]
fn a_crash_does_not_give_more_time_to_give_up_than_the_member_has() {
    let mut it = harness(2);
    it.consume(&join("a")).unwrap();
    it.consume(&join("b")).unwrap();
    it.consume(&owning("a", 1, 0..2)).unwrap();
    it.reload();
    it.advance(10_000);
    assert_eq!(it.consume(&owning("a", 1, 0..2)), Err(GroupError::UnknownMemberId));
}

#[test]
fn who_leaves_leaves_its_partitions_to_the_others() {
    let mut it = harness(4);
    let mut clients = ["a", "b"].map(Client::new);
    settle(&mut it, &mut clients);
    let [a, b] = &mut clients;
    a.leave(&mut it);
    assert_eq!(state(&it), ConsumerGroupState::Assigning);
    settle(&mut it, std::slice::from_mut(b));
    assert_eq!(b.owned, of_t(0..4));
    b.leave(&mut it);
    assert_eq!(state(&it), ConsumerGroupState::Empty);
}

#[test]
fn an_answer_that_was_lost_is_given_again() {
    let mut it = harness(2);
    let lost = it.consume(&join("a")).unwrap();
    let again = it.consume(&join("a")).unwrap();
    assert_eq!(again, lost);
    // Now in an epoch that the member does not know of.
    it.consume(&join("b")).unwrap();
    it.consume(&owning("a", 1, 0..2)).unwrap();
    it.consume(&owning("a", 1, [0])).unwrap();
    let again = it.consume(&owning("a", 1, [0])).unwrap();
    assert_eq!(again.member_epoch, 2);
}

#[test]
fn a_static_member_that_comes_back_has_what_it_had() {
    let mut it = harness(2);
    it.consume(&with_instance(join("a"), "i")).unwrap();
    it.consume(&with_instance(beat("a", -2), "i")).unwrap();
    let epoch = described(&it).group_epoch;
    let back = it.consume(&with_instance(join("b"), "i")).unwrap();
    assert_eq!((back.member_epoch, back.assignment), (1, Some(of_t(0..2))));
    assert_eq!(described(&it).group_epoch, epoch, "nobody else is disturbed");
    let fenced = it.consume(&with_instance(beat("a", 1), "i"));
    assert_eq!(fenced, Err(GroupError::FencedInstanceId));
}

#[test]
fn a_static_member_that_does_not_come_back_is_out_when_its_session_ends() {
    let mut it = harness(2);
    it.consume(&with_instance(join("a"), "i")).unwrap();
    it.consume(&join("b")).unwrap();
    it.consume(&with_instance(beat("a", -2), "i")).unwrap();
    it.advance(44_999);
    it.consume(&beat("b", 2)).unwrap();
    assert_eq!(described(&it).members.len(), 2);
    it.advance(1);
    assert_eq!(described(&it).members.len(), 1);
    let told = it.consume(&owning("b", 2, [])).unwrap();
    assert_eq!((told.member_epoch, told.assignment), (3, Some(of_t(0..2))));
}

#[test]
fn a_static_member_may_ask_again_for_the_answer_to_its_join() {
    let mut it = harness(2);
    let lost = it.consume(&with_instance(join("a"), "i")).unwrap();
    assert_eq!(it.consume(&with_instance(join("a"), "i")).unwrap(), lost);
}

#[test]
fn the_members_elect_the_assignor() {
    let mut it = harness(2);
    let choosing = |id, assignor: &str| ConsumerHeartbeatRequest {
        server_assignor: Some(assignor.into()),
        ..join(id)
    };
    it.consume(&choosing("a", "range")).unwrap();
    assert_eq!(&*described(&it).assignor_name, "range");
    it.consume(&choosing("b", "uniform")).unwrap();
    assert_eq!(&*described(&it).assignor_name, "range", "of equals the first by name");
    it.consume(&choosing("c", "uniform")).unwrap();
    assert_eq!(&*described(&it).assignor_name, "uniform");
}

#[test]
fn an_operator_removes_members_and_the_others_get_their_partitions() {
    let mut it = harness(2);
    it.consume(&with_instance(join("a"), "i")).unwrap();
    it.consume(&with_instance(join("b"), "j")).unwrap();
    it.consume(&join("c")).unwrap();
    let epoch = described(&it).group_epoch;
    let leaving = [("", Some("i")), ("x", Some("j")), ("b", None), ("x", None), ("", Some("k"))];
    let leaving = leaving.map(|(id, instance)| LeavingMember {
        member_id: id.into(),
        group_instance_id: instance.map(Into::into),
    });
    let (effects, results) = it.shard.leave(&"g".into(), &leaving, it.now);
    it.absorb(effects);
    let unknown = Err(GroupError::UnknownMemberId);
    let want = vec![Ok(()), Err(GroupError::FencedInstanceId), Ok(()), unknown.clone(), unknown];
    assert_eq!(results, Ok(want));
    assert_eq!(described(&it).group_epoch, epoch + 1);
    let told = it.consume(&owning("c", epoch, [])).unwrap();
    assert_eq!(told.assignment, Some(of_t(0..2)));
}
