//! `LeaveGroup`.

use crate::group::{
    GroupError, GroupRecord,
    classic::{JoinRequest, LeavingMember, State},
    harness::{Harness, new_member, rejoin, settings},
};

#[test]
fn who_leaves_makes_the_others_join_again() {
    let mut it = Harness::new(settings());
    it.stable(&["a", "b", "c"]);
    assert_eq!(it.leave(&["c", "nobody"]), [Ok(()), Err(GroupError::UnknownMemberId)]);
    assert_eq!(it.state(), State::PreparingRebalance);
    let a = it.join(rejoin("a"));
    let b = it.join(rejoin("b"));
    assert_eq!(it.joined(a).unwrap().unwrap().members.len(), 2);
    assert_eq!(it.joined(b).unwrap().unwrap().generation_id, 2);
}

#[test]
fn the_last_to_leave_empties_the_group_for_good() {
    let mut it = Harness::new(settings());
    it.stable(&["a"]);
    it.leave(&["a"]);
    assert_eq!(it.state(), State::Empty);
    let Some(GroupRecord::GroupMetadata { value: Some(value), .. }) = it.log.last() else {
        panic!("an empty generation is stored")
    };
    assert_eq!((value.generation_id, value.members.len()), (2, 0));
    it.reload();
    assert_eq!((it.state(), it.generation()), (State::Empty, 2));
}

#[test]
fn an_id_that_was_given_out_can_be_given_back() {
    let mut it = Harness::new(settings());
    it.join(JoinRequest { requires_known_member_id: true, ..new_member("a") });
    assert_eq!(it.leave(&["a"]), [Ok(())]);
    let ticket = it.join(rejoin("a"));
    assert_eq!(it.joined(ticket), Some(Err(GroupError::UnknownMemberId)));
}

#[test]
fn an_operator_removes_a_static_member_by_its_name() {
    let mut it = Harness::new(settings());
    let instance = Some("i".into());
    it.join_all(vec![JoinRequest { group_instance_id: instance.clone(), ..new_member("a") }]);
    let by_name = LeavingMember { member_id: "".into(), group_instance_id: instance };
    let other = LeavingMember { group_instance_id: Some("j".into()), ..by_name.clone() };
    let (effects, results) = it.shard.leave(&"g".into(), &[by_name, other], it.now);
    it.absorb(effects);
    assert_eq!(results, Ok(vec![Ok(()), Err(GroupError::UnknownMemberId)]));
    assert_eq!(it.state(), State::Empty);
}

#[test]
fn a_leader_that_leaves_is_followed_by_another() {
    let mut it = Harness::new(settings());
    it.stable(&["a", "b"]);
    it.leave(&["a"]);
    let b = it.join(rejoin("b"));
    assert_eq!(it.joined(b).unwrap().unwrap().leader.as_str(), "b");
}
