//! Kafka's documented examples, the order of members, and validity and evenness for arbitrary groups.

use super::*;
use klamm_plugin::assignor::{Member, Partition, Topic, check};
use proptest::prelude::*;

fn member(id: &str, topics: &[&str]) -> Member {
    let topics = topics.iter().map(|topic| (*topic).into()).collect();
    Member { id: id.into(), topics, ..Member::default() }
}

fn topic(name: &str, partitions: u32) -> Topic {
    let partitions = (0..partitions).map(|index| Partition { index, ..Partition::default() });
    Topic { name: name.into(), partitions: partitions.collect() }
}

/// `member: topic-partition …` for each member, in the plugin's order.
fn assign(members: Vec<Member>, topics: Vec<Topic>) -> Vec<String> {
    let group = Group { id: "g".into(), members, topics };
    let answer = RoundRobin.assign(&group).unwrap();
    check(&group, &answer).unwrap();
    answer.iter().map(show).collect()
}

fn show(assignment: &Assignment) -> String {
    let lists = assignment.partitions.iter();
    let partitions =
        lists.flat_map(|list| list.partitions.iter().map(|p| format!(" {}-{p}", list.topic)));
    format!("{}:{}", assignment.member_id, partitions.collect::<String>())
}

#[test]
fn equal_subscriptions_take_turns_across_topics() {
    let members = vec![member("C0", &["t0", "t1"]), member("C1", &["t0", "t1"])];
    let given = assign(members, vec![topic("t0", 3), topic("t1", 3)]);
    assert_eq!(given, ["C0: t0-0 t0-2 t1-1", "C1: t0-1 t1-0 t1-2"]);
}

#[test]
fn who_does_not_subscribe_is_passed_over() {
    let members =
        vec![member("C0", &["t0"]), member("C1", &["t0", "t1"]), member("C2", &["t0", "t1", "t2"])];
    let given = assign(members, vec![topic("t0", 1), topic("t1", 2), topic("t2", 3)]);
    assert_eq!(given, ["C0: t0-0", "C1: t1-0", "C2: t1-1 t2-0 t2-1 t2-2"]);
}

#[test]
fn static_members_keep_their_turn_under_a_new_member_id() {
    let named = |id: &str, instance: &str| Member {
        instance_id: Some(instance.into()),
        ..member(id, &["t"])
    };
    let before = assign(vec![named("C0", "I0"), named("C1", "I1")], vec![topic("t", 3)]);
    let after = assign(vec![named("C2", "I1"), named("C3", "I0")], vec![topic("t", 3)]);
    assert_eq!(before, ["C0: t-0 t-2", "C1: t-1"]);
    assert_eq!(after, ["C3: t-0 t-2", "C2: t-1"]);
}

proptest! {
    #[test]
    fn every_answer_is_valid(
        sizes in prop::collection::vec(0..20_u32, 1..5),
        subscriptions in prop::collection::vec(1..16_u8, 1..9),
    ) {
        let group = arbitrary(&sizes, &subscriptions);
        let answer = RoundRobin.assign(&group).unwrap();
        prop_assert_eq!(check(&group, &answer), Ok(()));
    }

    #[test]
    fn equal_subscriptions_differ_by_one_partition_at_most(
        sizes in prop::collection::vec(0..20_u32, 1..5),
        members in 1..9_usize,
    ) {
        let answer = RoundRobin.assign(&arbitrary(&sizes, &vec![15; members])).unwrap();
        let load = |a: &Assignment| a.partitions.iter().map(|list| list.partitions.len()).sum::<usize>();
        let most = answer.iter().map(load).max().unwrap();
        prop_assert!(most - answer.iter().map(load).min().unwrap() <= 1);
    }
}

/// Bit `i` of a subscription is topic `i`; topics without a subscriber do not reach an assignor.
fn arbitrary(sizes: &[u32], subscriptions: &[u8]) -> Group {
    let subscribed = |i: usize| subscriptions.iter().any(|bits| bits >> i & 1 == 1);
    let names: Vec<String> = (0..sizes.len()).map(|i| format!("t{i}")).collect();
    let topics = (0..sizes.len()).filter(|i| subscribed(*i)).map(|i| topic(&names[i], sizes[i]));
    let members = subscriptions.iter().enumerate().map(|(m, bits)| {
        let topics = (0..names.len()).filter(|i| bits >> i & 1 == 1).map(|i| names[i].as_str());
        member(&format!("m{m}"), &topics.collect::<Vec<_>>())
    });
    Group { id: "g".into(), members: members.collect(), topics: topics.collect() }
}
