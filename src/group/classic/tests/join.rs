//! `JoinGroup`.

use crate::{
    config::GroupConfig,
    group::{
        GroupError,
        classic::{JoinRequest, State},
        harness::{
            Harness, INITIAL_DELAY_MS, REBALANCE_MS, SESSION_MS, new_member, protocol, rejoin,
            settings, subscription,
        },
    },
};

fn harness() -> Harness {
    Harness::new(settings())
}

#[test]
fn a_new_group_waits_for_more_members() {
    let mut it = harness();
    let first = it.join(new_member("a"));
    it.advance(INITIAL_DELAY_MS - 1);
    let second = it.join(new_member("b"));
    it.advance(1);
    // Someone came during the delay, so it is prolonged.
    assert_eq!(it.joined(first), None);
    it.advance(INITIAL_DELAY_MS);
    let first = it.joined(first).unwrap().unwrap();
    let second = it.joined(second).unwrap().unwrap();
    assert_eq!((first.generation_id, second.generation_id), (1, 1));
    assert_eq!(first.leader.as_str(), "a");
    assert_eq!((first.members.len(), second.members.len()), (2, 0));
    assert_eq!(first.protocol_name.as_deref(), Some("range"));
    assert!(it.log.is_empty(), "a generation is stored when it is assigned");
}

#[test]
fn the_initial_delay_never_exceeds_the_rebalance_timeout() {
    let mut it = harness();
    let first = it.join(new_member("m0"));
    for n in 1..=(REBALANCE_MS / 2_000) {
        it.advance(2_000);
        it.join(new_member(&format!("m{n}")));
    }
    it.advance(INITIAL_DELAY_MS);
    assert!(it.joined(first).is_some());
}

#[test]
fn a_new_member_gets_its_id_first() {
    let mut it = harness();
    let request = JoinRequest { requires_known_member_id: true, ..new_member("a") };
    let ticket = it.join(request);
    assert_eq!(it.joined(ticket), Some(Err(GroupError::MemberIdRequired("a".into()))));
    let ticket = it.join(rejoin("a"));
    it.advance(INITIAL_DELAY_MS);
    assert_eq!(it.joined(ticket).unwrap().unwrap().member_id.as_str(), "a");
}

#[test]
fn a_static_member_needs_no_id_first() {
    let mut it = harness();
    let ticket = it.join(JoinRequest {
        requires_known_member_id: true,
        group_instance_id: Some("i".into()),
        ..new_member("a")
    });
    it.advance(INITIAL_DELAY_MS);
    assert!(it.joined(ticket).unwrap().is_ok());
}

#[test]
fn what_cannot_join_is_told_why() {
    let mut it = harness();
    it.stable(&["a"]);
    let other = vec![protocol("other", subscription(&["t"], &[], -1))];
    for (request, error) in [
        (JoinRequest { group_id: "".into(), ..new_member("x") }, GroupError::InvalidGroupId),
        (
            JoinRequest { session_timeout_ms: 1, ..new_member("x") },
            GroupError::InvalidSessionTimeout,
        ),
        (
            JoinRequest { session_timeout_ms: i32::MAX, ..new_member("x") },
            GroupError::InvalidSessionTimeout,
        ),
        (rejoin("nobody"), GroupError::UnknownMemberId),
        (JoinRequest { group_id: "none".into(), ..rejoin("a") }, GroupError::UnknownMemberId),
        (
            JoinRequest { protocols: other, ..new_member("x") },
            GroupError::InconsistentGroupProtocol,
        ),
        (
            JoinRequest { protocols: vec![], ..new_member("x") },
            GroupError::InconsistentGroupProtocol,
        ),
        (
            JoinRequest { protocol_type: "connect".into(), ..new_member("x") },
            GroupError::InconsistentGroupProtocol,
        ),
    ] {
        let ticket = it.join(request.clone());
        assert_eq!(it.joined(ticket), Some(Err(error)), "{request:?}");
    }
    assert_eq!(it.state(), State::Stable);
}

#[test]
fn a_full_group_takes_nobody_new() {
    let mut it = Harness::new(crate::config::GroupConfig { max_size: 2, ..settings() });
    it.stable(&["a", "b"]);
    let ticket = it.join(new_member("c"));
    assert_eq!(it.joined(ticket), Some(Err(GroupError::GroupMaxSizeReached)));
    assert_eq!(it.state(), State::Stable);
}

#[test]
fn a_new_member_rebalances_a_stable_group_which_waits_for_the_others() {
    let mut it = harness();
    it.stable(&["a", "b"]);
    let new = it.join(new_member("c"));
    assert_eq!(it.state(), State::PreparingRebalance);
    assert_eq!(it.heartbeat("a", 1), Err(GroupError::RebalanceInProgress));
    let a = it.join(rejoin("a"));
    assert_eq!(it.joined(a), None);
    let b = it.join(rejoin("b"));
    for ticket in [new, a, b] {
        assert_eq!(it.joined(ticket).unwrap().unwrap().generation_id, 2);
    }
}

#[test]
fn a_follower_that_missed_its_answer_is_told_again() {
    let mut it = harness();
    it.stable(&["a", "b"]);
    let ticket = it.join(rejoin("b"));
    let joined = it.joined(ticket).unwrap().unwrap();
    assert_eq!((joined.generation_id, joined.members.len()), (1, 0));
    assert_eq!(it.state(), State::Stable);
}

#[test]
fn a_leader_that_joins_again_rebalances() {
    let mut it = harness();
    it.stable(&["a", "b"]);
    it.join(rejoin("a"));
    assert_eq!(it.state(), State::PreparingRebalance);
}

#[test]
fn a_changed_subscription_rebalances() {
    let mut it = harness();
    it.stable(&["a", "b"]);
    let protocols = vec![protocol("range", subscription(&["t", "u"], &[], -1))];
    it.join(JoinRequest { protocols, ..rejoin("b") });
    assert_eq!(it.state(), State::PreparingRebalance);
}

#[test]
fn the_protocol_that_most_prefer_wins() {
    let mut it = harness();
    let choose = |id, names: [&str; 2]| JoinRequest {
        protocols: names.map(|name| protocol(name, subscription(&["t"], &[], -1))).into(),
        ..new_member(id)
    };
    let joined = it.join_all(vec![
        choose("a", ["range", "sticky"]),
        choose("b", ["sticky", "range"]),
        choose("c", ["sticky", "range"]),
    ]);
    assert_eq!(joined[0].protocol_name.as_deref(), Some("sticky"));
}

#[test]
fn a_join_that_is_sent_twice_answers_both() {
    let mut it = harness();
    it.stable(&["a", "b"]);
    let first = it.join(rejoin("a"));
    let again = it.join(rejoin("a"));
    assert_eq!(it.joined(first), Some(Err(GroupError::RebalanceInProgress)));
    it.join(rejoin("b"));
    assert!(it.joined(again).unwrap().is_ok());
}

#[test]
fn a_refused_join_leaves_no_group_behind() {
    let mut it = harness();
    let nameless = JoinRequest { protocols: Vec::new(), ..new_member("a") };
    let ticket = it.join(nameless);
    assert_eq!(it.joined(ticket), Some(Err(GroupError::InconsistentGroupProtocol)));
    assert_eq!(it.state(), State::Dead);
}

#[test]
fn ids_that_are_asked_for_and_never_used_are_bounded_and_forgotten() {
    let mut it = Harness::new(GroupConfig { max_size: 3, ..settings() });
    for n in 0..5 {
        let asks = JoinRequest { requires_known_member_id: true, ..new_member(&format!("m{n}")) };
        let ticket = it.join(asks);
        let want = match n {
            0..3 => GroupError::MemberIdRequired(format!("m{n}").as_str().into()),
            _ => GroupError::GroupMaxSizeReached,
        };
        assert_eq!(it.joined(ticket), Some(Err(want)));
    }
    assert_eq!(it.state(), State::Empty);
    it.advance(SESSION_MS);
    assert_eq!(it.state(), State::Dead);
    assert!(it.log.is_empty());
}

#[test]
fn metadata_that_no_generation_could_store_is_refused() {
    let mut it = harness();
    let large = |id: &str, bytes: usize| {
        let metadata = vec![0; bytes].into();
        JoinRequest { protocols: vec![protocol("range", metadata)], ..new_member(id) }
    };
    let ticket = it.join(large("huge", 50 * 1024 * 1024));
    assert_eq!(it.joined(ticket), Some(Err(GroupError::RecordTooLarge)));
    assert_eq!(it.state(), State::Dead);
    let answers: Vec<_> = (0..17)
        .map(|n| {
            let ticket = it.join(large(&format!("m{n:02}"), 1024 * 1024));
            it.joined(ticket)
        })
        .collect();
    assert!(answers[..16].iter().all(Option::is_none), "they wait");
    assert_eq!(answers[16], Some(Err(GroupError::GroupMaxSizeReached)));
}
