//! `SyncGroup`, `Heartbeat` and the record of a generation.

use crate::group::{
    GroupError, GroupRecord,
    classic::{State, SyncRequest},
    harness::{Harness, new_member, rejoin, settings, sync},
};

#[test]
fn the_leader_s_assignment_is_stored_and_handed_out() {
    let mut it = Harness::new(settings());
    let joined = it.join_all(vec![new_member("a"), new_member("b")]);
    let follower = it.sync(sync("b", 1));
    assert_eq!(it.synced(follower), None);
    let leader = it.sync_all(&joined[..1], &[("a", b"A"), ("b", b"B")])[0];
    assert_eq!(&it.synced(leader).unwrap().unwrap().assignment[..], b"A");
    assert_eq!(&it.synced(follower).unwrap().unwrap().assignment[..], b"B");

    let [GroupRecord::GroupMetadata { value: Some(value), .. }] = &it.log[..] else {
        panic!("one generation, one record")
    };
    assert_eq!((value.generation_id, value.leader.as_ref().unwrap().as_str()), (1, "a"));
    let stored: Vec<_> = value.members.iter().map(|it| &it.assignment[..]).collect();
    assert_eq!(stored, [b"A", b"B"]);
}

#[test]
fn a_member_that_the_leader_left_out_gets_nothing() {
    let mut it = Harness::new(settings());
    let joined = it.join_all(vec![new_member("a"), new_member("b")]);
    let tickets = it.sync_all(&joined, &[("a", b"A")]);
    assert!(it.synced(tickets[1]).unwrap().unwrap().assignment.is_empty());
}

#[test]
fn a_sync_is_checked_in_order() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    for (request, error) in [
        (SyncRequest { group_id: "".into(), ..sync("a", 1) }, GroupError::InvalidGroupId),
        (SyncRequest { group_id: "none".into(), ..sync("a", 1) }, GroupError::UnknownMemberId),
        (sync("nobody", 1), GroupError::UnknownMemberId),
        (
            SyncRequest { group_instance_id: Some("i".into()), ..sync("a", 1) },
            GroupError::UnknownMemberId,
        ),
        (sync("a", 2), GroupError::IllegalGeneration),
        (
            SyncRequest { protocol_name: Some("sticky".into()), ..sync("a", 1) },
            GroupError::InconsistentGroupProtocol,
        ),
        (
            SyncRequest { protocol_type: Some("connect".into()), ..sync("a", 1) },
            GroupError::InconsistentGroupProtocol,
        ),
    ] {
        let ticket = it.sync(request.clone());
        assert_eq!(it.synced(ticket), Some(Err(error)), "{request:?}");
    }
}

#[test]
fn a_rebalance_sends_those_who_wait_for_an_assignment_back() {
    let mut it = Harness::new(settings());
    it.join_all(vec![new_member("a"), new_member("b")]);
    let waiting = it.sync(sync("b", 1));
    it.join(new_member("c"));
    assert_eq!(it.synced(waiting), Some(Err(GroupError::RebalanceInProgress)));
    let late = it.sync(sync("a", 1));
    assert_eq!(it.synced(late), Some(Err(GroupError::RebalanceInProgress)));
}

#[test]
fn heartbeats_tell_the_state() {
    let mut it = Harness::new(settings());
    assert_eq!(it.heartbeat("a", 1), Err(GroupError::UnknownMemberId));
    it.join_all(vec![new_member("a"), new_member("b")]);
    assert_eq!(it.state(), State::CompletingRebalance);
    assert_eq!(it.heartbeat("a", 1), Ok(()));
    assert_eq!(it.heartbeat("a", 0), Err(GroupError::IllegalGeneration));
    assert_eq!(it.heartbeat("x", 1), Err(GroupError::UnknownMemberId));
    it.join(new_member("c"));
    assert_eq!(it.heartbeat("a", 1), Err(GroupError::RebalanceInProgress));
}

#[test]
fn a_generation_survives_a_crash_with_its_members() {
    let mut it = Harness::new(settings());
    it.stable(&["a", "b"]);
    it.reload();
    assert_eq!((it.state(), it.generation()), (State::Stable, 1));
    assert_eq!(it.heartbeat("a", 1), Ok(()));
    let ticket = it.sync(sync("b", 1));
    assert_eq!(&it.synced(ticket).unwrap().unwrap().assignment[..], b"b");
    // Its subscription is as it was: no rebalance.
    let ticket = it.join(rejoin("b"));
    assert_eq!(it.joined(ticket).unwrap().unwrap().generation_id, 1);
}

#[test]
fn a_join_phase_is_forgotten_in_a_crash() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    it.join(new_member("b"));
    assert_eq!(it.state(), State::PreparingRebalance);
    it.reload();
    assert_eq!((it.state(), it.generation()), (State::Stable, 1));
}

#[test]
fn metadata_too_large_to_store_fails_the_generation_and_no_more() {
    let mut it = Harness::new(settings());
    let joined = it.join_all(vec![new_member("a")]);
    let huge = vec![0; 1024 * 1024];
    let ticket = it.sync_all(&joined, &[("a", &huge)])[0];
    assert_eq!(it.synced(ticket), Some(Err(GroupError::RecordTooLarge)));
    assert_eq!(it.state(), State::PreparingRebalance);
    assert!(it.log.is_empty());
}
