//! Sessions, join phases and syncs that end by time.

use crate::group::{
    GroupError,
    classic::{JoinRequest, State},
    harness::{
        Harness, INITIAL_DELAY_MS, REBALANCE_MS, SESSION_MS, new_member, rejoin, settings, sync,
    },
};

#[test]
fn a_silent_member_is_removed_after_its_session() {
    let mut it = Harness::new(settings());
    it.stable(&["a", "b"]);
    it.advance(SESSION_MS / 2);
    assert_eq!(it.heartbeat("a", 1), Ok(()));
    it.advance(SESSION_MS / 2);
    assert_eq!(it.heartbeat("a", 1), Err(GroupError::RebalanceInProgress));
    assert_eq!(it.heartbeat("b", 1), Err(GroupError::UnknownMemberId));
}

#[test]
fn heartbeats_keep_a_group_stable() {
    let mut it = Harness::new(settings());
    it.stable(&["a", "b"]);
    for _ in 0..100 {
        it.advance(SESSION_MS - 1);
        assert_eq!((it.heartbeat("a", 1), it.heartbeat("b", 1)), (Ok(()), Ok(())));
    }
}

#[test]
fn sessions_begin_anew_after_a_crash() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    it.advance(SESSION_MS - 1);
    it.reload();
    it.advance(SESSION_MS - 1);
    assert_eq!(it.state(), State::Stable);
    it.advance(1);
    assert_eq!(it.state(), State::Empty);
}

#[test]
fn members_that_do_not_join_again_are_removed_when_the_time_is_up() {
    let mut it = Harness::new(settings());
    it.stable(&["a", "b"]);
    let new = it.join(new_member("c"));
    for _ in 0..REBALANCE_MS / 1_000 {
        it.advance(1_000);
        // They live, but do not join.
        let _ = (it.heartbeat("a", 1), it.heartbeat("b", 1));
    }
    let joined = it.joined(new).unwrap().unwrap();
    assert_eq!((joined.leader.as_str(), joined.members.len()), ("c", 1));
}

#[test]
fn an_id_that_nobody_joins_with_is_forgotten() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    it.join(JoinRequest { requires_known_member_id: true, ..new_member("b") });
    it.join(rejoin("a"));
    // The phase waits for the pending member.
    assert_eq!(it.state(), State::PreparingRebalance);
    it.advance(SESSION_MS);
    assert_eq!(it.state(), State::CompletingRebalance);
    let ticket = it.join(rejoin("b"));
    assert_eq!(it.joined(ticket), Some(Err(GroupError::UnknownMemberId)));
}

#[test]
fn members_that_joined_and_never_sync_are_removed() {
    let mut it = Harness::new(settings());
    let joined = it.join_all(vec![new_member("a"), new_member("b")]);
    it.sync_all(&joined[..1], &[]);
    for _ in 0..REBALANCE_MS / 1_000 {
        it.advance(1_000);
        let _ = (it.heartbeat("a", 1), it.heartbeat("b", 1));
    }
    assert_eq!(it.heartbeat("b", 1), Err(GroupError::UnknownMemberId));
    assert_eq!(it.heartbeat("a", 1), Err(GroupError::RebalanceInProgress));
}

#[test]
fn who_waits_for_the_coordinator_is_not_timed_out() {
    let mut it = Harness::new(settings());
    let joined = it.join_all(vec![new_member("a"), new_member("b")]);
    let waiting = it.sync(sync("b", 1));
    for _ in 0..4 {
        it.advance(SESSION_MS / 2);
        assert_eq!(it.heartbeat("a", 1), Ok(()));
    }
    it.sync_all(&joined[..1], &[("b", b"B")]);
    assert_eq!(&it.synced(waiting).unwrap().unwrap().assignment[..], b"B");
}

#[test]
fn a_new_member_whose_connection_broke_is_given_up() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    let lost = it.join(JoinRequest { rebalance_timeout_ms: i32::MAX, ..new_member("b") });
    for _ in 0..5 * 60 {
        it.advance(1_000);
        let _ = it.heartbeat("a", 1);
    }
    assert_eq!(it.joined(lost), Some(Err(GroupError::UnknownMemberId)));
}

#[test]
fn an_empty_group_s_first_phase_ends_without_anyone() {
    let mut it = Harness::new(settings());
    it.join(new_member("a"));
    it.leave(&["a"]);
    it.advance(INITIAL_DELAY_MS);
    assert_eq!(it.state(), State::Empty);
}
