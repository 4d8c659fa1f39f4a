//! Static membership (KIP-345, KIP-814).

use crate::group::{
    GroupError, GroupRecord,
    classic::{JoinRequest, State, SyncRequest},
    harness::{Harness, SESSION_MS, new_member, protocol, settings, subscription, sync},
};

fn statically(id: &str, instance: &str) -> JoinRequest {
    JoinRequest { group_instance_id: Some(instance.into()), ..new_member(id) }
}

/// A stable group of two static members, `a` leading.
fn group() -> Harness {
    let mut it = Harness::new(settings());
    let joined = it.join_all(vec![statically("a", "i"), statically("b", "j")]);
    it.sync_all(&joined, &[("a", b"A"), ("b", b"B")]);
    it
}

#[test]
fn a_member_that_comes_back_keeps_its_place_without_a_rebalance() {
    let mut it = group();
    let ticket = it.join(statically("b2", "j"));
    let joined = it.joined(ticket).unwrap().unwrap();
    assert_eq!((it.state(), joined.generation_id), (State::Stable, 1));
    let ticket = it.sync(SyncRequest { group_instance_id: Some("j".into()), ..sync("b2", 1) });
    assert_eq!(&it.synced(ticket).unwrap().unwrap().assignment[..], b"B");
    let Some(GroupRecord::GroupMetadata { value: Some(value), .. }) = it.log.last() else {
        panic!("its new id is stored")
    };
    assert!(value.members.iter().any(|it| it.member_id.as_str() == "b2"));
}

#[test]
fn its_former_self_is_fenced() {
    let mut it = group();
    it.join(statically("b2", "j"));
    let request = SyncRequest { group_instance_id: Some("j".into()), ..sync("b", 1) };
    let ticket = it.sync(request);
    assert_eq!(it.synced(ticket), Some(Err(GroupError::FencedInstanceId)));
}

#[test]
fn a_leader_that_comes_back_is_told_to_skip_the_assignment() {
    let mut it = group();
    let ticket = it.join(JoinRequest { supports_skip_assignment: true, ..statically("a2", "i") });
    let joined = it.joined(ticket).unwrap().unwrap();
    assert_eq!((joined.leader.as_str(), joined.skip_assignment), ("a2", true));
    assert_eq!(joined.members.len(), 2);
}

#[test]
fn an_older_leader_is_told_of_another_leader() {
    let mut it = group();
    let ticket = it.join(statically("a2", "i"));
    let joined = it.joined(ticket).unwrap().unwrap();
    assert_eq!((joined.leader.as_str(), joined.skip_assignment), ("a", false));
    assert!(joined.members.is_empty());
}

#[test]
fn a_changed_choice_of_protocol_rebalances() {
    let mut it = group();
    let protocols = ["sticky"].map(|name| protocol(name, subscription(&["t"], &[], -1)));
    let request = JoinRequest { protocols: protocols.into(), ..statically("b2", "j") };
    let ticket = it.join(request);
    assert_eq!(it.joined(ticket), Some(Err(GroupError::InconsistentGroupProtocol)));
    assert_eq!(it.state(), State::Stable);
}

#[test]
fn who_waits_for_a_join_is_fenced_by_its_new_self() {
    let mut it = group();
    it.join(new_member("c"));
    let old = it.join(JoinRequest { member_id: "b".into(), ..statically("unused", "j") });
    it.join(statically("b2", "j"));
    assert_eq!(it.joined(old), Some(Err(GroupError::FencedInstanceId)));
}

#[test]
fn an_absent_member_keeps_its_place_until_its_session_ends() {
    let mut it = group();
    it.join(new_member("c"));
    it.advance(SESSION_MS - 1);
    assert_eq!(it.shard.group("g").unwrap().members().len(), 3);
    it.advance(1);
    assert_eq!(it.shard.group("g").unwrap().members().len(), 1);
}
