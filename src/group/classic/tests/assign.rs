//! Groups that an assignor plugin assigns.

use crate::group::{
    AskReason,
    classic::{JoinRequest, Joined, State, subscription::decode_assignment},
    harness::{Harness, assignments, inputs, new_member, protocol, rejoin, settings, subscription},
};

fn harness() -> Harness {
    let mut it = Harness::new(settings());
    it.assignor = Some("sticky");
    it
}

/// What a member was given of topic `t`.
fn given(it: &Harness, id: &str) -> Vec<i32> {
    let member = it.shard.group("g").unwrap().members().find(|it| it.id.as_str() == id).unwrap();
    let topics = decode_assignment(member.assignment.clone()).unwrap();
    topics.get("t").cloned().unwrap_or_default()
}

fn start(it: &mut Harness, ids: &[&str]) -> Vec<Joined> {
    it.join_all(ids.iter().map(|&id| new_member(id)).collect())
}

#[test]
fn a_plugin_s_assignment_is_stored_instead_of_the_leader_s() {
    let mut it = harness();
    let joined = start(&mut it, &["a", "b"]);
    let tickets = it.sync_all(&joined, &[("a", b"leader"), ("b", b"leader")]);
    assert!(it.log.is_empty(), "stored when the plugin has answered");
    it.answer(4, Ok(assignments(&[("a", &[0, 1, 2, 3]), ("b", &[])])));
    assert_eq!(it.log.len(), 1);
    let b = it.synced(tickets[1]).unwrap().unwrap();
    assert_eq!(&b.assignment[..2], [0, 2], "encoded in the subscription's version, though empty");
    assert_eq!(given(&it, "a"), [0, 1, 2, 3]);
}

#[test]
fn eager_members_own_what_the_coordinator_gave_them_last() {
    let mut it = harness();
    let joined = start(&mut it, &["a", "b"]);
    it.sync_all(&joined, &[]);
    it.answer(4, Ok(assignments(&[("a", &[0, 1]), ("b", &[2, 3])])));
    it.leave(&["b"]);
    let joined = it.join_all(vec![rejoin("a")]);
    it.sync_all(&joined, &[]);
    assert_eq!(it.asks.last().unwrap().members[0].owned["t"], [0, 1]);
}

#[test]
fn a_failed_plugin_keeps_the_last_assignment_cut_to_who_is_there() {
    let mut it = harness();
    let joined = start(&mut it, &["a", "b", "c"]);
    it.sync_all(&joined, &[]);
    it.answer(6, Ok(assignments(&[("a", &[0, 1]), ("b", &[2, 3]), ("c", &[4, 5])])));
    it.leave(&["c"]);
    let joined = it.join_all(vec![rejoin("a"), rejoin("b")]);
    it.sync_all(&joined, &[("a", b"leader")]);
    it.answer(6, Err("trap".into()));
    assert_eq!((given(&it, "a"), given(&it, "b")), (vec![0, 1, 4], vec![2, 3, 5]));
}

#[test]
fn a_failed_plugin_without_a_last_assignment_leaves_it_to_the_leader() {
    let mut it = harness();
    let joined = start(&mut it, &["a"]);
    let ticket = it.sync_all(&joined, &[("a", b"leader")])[0];
    it.answer(6, Err("trap".into()));
    assert_eq!(&it.synced(ticket).unwrap().unwrap().assignment[..], b"leader");
}

#[test]
fn an_answer_that_comes_too_late_is_discarded() {
    let mut it = harness();
    let joined = start(&mut it, &["a", "b"]);
    it.sync_all(&joined, &[]);
    let late = it.asks.pop().unwrap();
    it.leave(&["b"]);
    let joined = it.join_all(vec![rejoin("a")]);
    it.sync_all(&joined, &[]);
    it.answer_ask(&late, inputs(&late, 2), Ok(assignments(&[("a", &[0]), ("b", &[1])])));
    assert_eq!(it.state(), State::CompletingRebalance);
    it.answer(2, Ok(assignments(&[("a", &[0, 1])])));
    assert_eq!(given(&it, "a"), [0, 1]);
}

#[test]
fn other_types_protocols_and_what_cannot_be_read_are_left_alone() {
    let subscribed = subscription(&["t"], &[], -1);
    for (protocol_type, name, metadata) in [
        ("connect", "range", subscribed.clone()),
        ("consumer", "stream", subscribed.clone()),
        ("consumer", "unheard-of", subscribed),
        ("consumer", "range", "garbage".into()),
    ] {
        let mut it = harness();
        it.settings.assignor_protocols.push("stream".into());
        let request = JoinRequest {
            protocol_type: protocol_type.into(),
            protocols: vec![protocol(name, metadata)],
            ..new_member("a")
        };
        let joined = it.join_all(vec![request]);
        let ticket = it.sync_all(&joined, &[("a", b"leader")])[0];
        assert_eq!(&it.synced(ticket).unwrap().unwrap().assignment[..], b"leader", "{name}");
        assert!(it.asks.is_empty());
    }
}

fn cooperative(id: &str, owned: &[i32], generation_id: i32) -> JoinRequest {
    let metadata = subscription(&["t"], owned, generation_id);
    JoinRequest { protocols: vec![protocol("cooperative-sticky", metadata)], ..rejoin(id) }
}

fn new_cooperative(id: &str) -> JoinRequest {
    JoinRequest { member_id: "".into(), new_member_id: id.into(), ..cooperative("", &[], -1) }
}

/// `a` reads both partitions, then `b` joins and should get one of them.
fn moving() -> Harness {
    let mut it = harness();
    let joined = it.join_all(vec![new_cooperative("a")]);
    it.sync_all(&joined, &[]);
    it.answer(2, Ok(assignments(&[("a", &[0, 1])])));
    let new = it.join(new_cooperative("b"));
    let old = it.join(cooperative("a", &[0, 1], 1));
    let joined = [old, new].map(|ticket| it.joined(ticket).unwrap().unwrap());
    it.sync_all(&joined, &[]);
    it.answer(2, Ok(assignments(&[("a", &[0]), ("b", &[1])])));
    it
}

#[test]
fn a_partition_moves_only_after_its_owner_gave_it_up() {
    let mut it = moving();
    assert_eq!((given(&it, "a"), given(&it, "b")), (vec![0], vec![]));
    // `a` revokes and joins again: the same target, asked for by its inputs.
    let a = it.join(cooperative("a", &[0], 2));
    let b = it.join(cooperative("b", &[], 2));
    let joined = [a, b].map(|ticket| it.joined(ticket).unwrap().unwrap());
    it.sync_all(&joined, &[]);
    let target = it.asks.last().unwrap().target.clone().unwrap();
    let asked = inputs(it.asks.last().unwrap(), 2);
    assert_eq!(target.inputs, asked, "the runtime reuses it without a call");
    it.answer(2, Ok(target.assignments.clone()));
    assert_eq!((given(&it, "a"), given(&it, "b")), (vec![0], vec![1]));
}

#[test]
fn the_coordinator_starts_the_follow_up_that_nobody_else_starts() {
    let mut it = moving();
    it.advance(5_000);
    assert_eq!(it.state(), State::PreparingRebalance);
}

#[test]
fn nothing_follows_when_nothing_was_withheld() {
    let mut it = harness();
    let joined = it.join_all(vec![new_cooperative("a")]);
    it.sync_all(&joined, &[]);
    it.answer(2, Ok(assignments(&[("a", &[0, 1])])));
    it.advance(5_000);
    assert_eq!(it.state(), State::Stable);
}

fn stable_by_plugin() -> Harness {
    let mut it = harness();
    let joined = start(&mut it, &["a", "b"]);
    it.sync_all(&joined, &[]);
    it.answer(2, Ok(assignments(&[("a", &[0]), ("b", &[1])])));
    it
}

#[test]
fn a_reload_that_changes_nothing_rebalances_nobody() {
    let mut it = stable_by_plugin();
    it.assignor_changed();
    assert_eq!(it.last_reason(), Some(AskReason::Probe));
    it.answer(2, Ok(assignments(&[("b", &[1]), ("a", &[0])])));
    assert_eq!(it.state(), State::Stable);
}

#[test]
fn a_reload_with_another_answer_rebalances_once() {
    let mut it = stable_by_plugin();
    it.assignor_changed();
    it.answer(2, Ok(assignments(&[("a", &[1]), ("b", &[0])])));
    assert_eq!(it.state(), State::PreparingRebalance);
}

#[test]
fn a_failed_probe_changes_nothing() {
    let mut it = stable_by_plugin();
    it.assignor_changed();
    it.answer(2, Err("trap".into()));
    assert_eq!(it.state(), State::Stable);
}

#[test]
fn reloads_are_asked_about_at_a_limited_rate() {
    let mut it = stable_by_plugin();
    it.assignor_changed();
    it.answer(2, Ok(assignments(&[("a", &[0]), ("b", &[1])])));
    it.assignor_changed();
    it.assignor_changed();
    assert!(it.asks.is_empty());
    let _ = (it.heartbeat("a", 1), it.heartbeat("b", 1));
    it.advance(9_999);
    let _ = (it.heartbeat("a", 1), it.heartbeat("b", 1));
    assert!(it.asks.is_empty());
    it.advance(1);
    assert_eq!(it.asks.len(), 1);
}

#[test]
fn a_group_whose_assignor_is_taken_away_goes_back_to_its_leader() {
    let mut it = stable_by_plugin();
    it.assignor = None;
    it.assignor_changed();
    assert_eq!(it.state(), State::PreparingRebalance);
    let joined = it.join_all(vec![rejoin("a"), rejoin("b")]);
    let tickets = it.sync_all(&joined, &[("a", b"A"), ("b", b"B")]);
    assert_eq!(&it.synced(tickets[0]).unwrap().unwrap().assignment[..], b"A");
    // And it is not rebalanced again for the same change.
    it.advance(0);
    it.assignor_changed();
    assert_eq!(it.state(), State::Stable);
}

#[test]
fn a_follower_that_joins_again_is_assigned_by_the_assignor_of_now() {
    let mut it = harness();
    let joined = start(&mut it, &["a", "b"]);
    it.sync_all(&joined, &[]);
    it.answer(2, Ok(assignments(&[("a", &[0]), ("b", &[1])])));
    let follower = if joined[0].leader.as_str() == "a" { "b" } else { "a" };
    let again = it.join(rejoin(follower));
    let told = it.joined(again).unwrap().unwrap();
    assert_eq!((told.generation_id, it.state()), (1, State::Stable), "nothing has changed");
    // Nobody has told the group yet.
    it.assignor = Some("range");
    let again = it.join(rejoin(follower));
    assert_eq!(it.joined(again), None);
    assert_eq!(it.state(), State::PreparingRebalance);
    // After a restart it is not known what was in effect, and nothing rebalances for that.
    it.reload();
    let again = it.join(rejoin(follower));
    assert!(it.joined(again).is_some());
}
