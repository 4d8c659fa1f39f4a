//! Against what Kafka 4.1.2's own classes answer, and what must hold for any group.
//!
//! In the notation of the examples `m1/a:t1+t2=t1-0.1` is member m1 of instance id a, which subscribes to t1 and t2 and was assigned
//! the partitions 0 and 1 of t1.

use std::{collections::BTreeMap, fmt::Write as _};

use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn topic(name: &str) -> TopicId {
    TopicId(Uuid::from_u128(name.strip_prefix('t').unwrap().parse().unwrap()))
}

fn partitions(text: &str) -> TopicPartitions {
    let of_topic = |it: &str| {
        let (name, numbers) = it.split_once('-').unwrap();
        (topic(name), numbers.split('.').map(|it| it.parse().unwrap()).collect())
    };
    TopicPartitions(text.split('+').filter(|it| !it.is_empty()).map(of_topic).collect())
}

fn member(text: &str) -> (MemberId, MemberSpec) {
    let (text, assigned) = text.split_once('=').unwrap_or((text, ""));
    let (ids, topics) = text.split_once(':').unwrap();
    let (id, instance) = ids.split_once('/').map_or((ids, None), |(id, it)| (id, Some(it)));
    let spec = MemberSpec {
        group_instance_id: instance.map(Into::into),
        rack_id: None,
        subscribed: topics.split('+').map(topic).collect(),
        assigned: partitions(assigned),
    };
    (id.into(), spec)
}

fn group(topics: &str, members: &str) -> GroupSpec {
    let topics = topics.split(',').map(|it| {
        let (name, partitions) = it.split_once(':').unwrap();
        (topic(name), TopicSpec { partitions: partitions.parse().unwrap() })
    });
    GroupSpec { members: members.split(';').map(member).collect(), topics: topics.collect() }
}

fn show(assignments: &Assignments) -> String {
    let mut out = String::new();
    for (id, assigned) in assignments {
        let _ = write!(out, "{}{id}=", if out.is_empty() { "" } else { ";" });
        for (index, (topic, partitions)) in assigned.0.iter().enumerate() {
            let numbers: Vec<String> = partitions.iter().map(ToString::to_string).collect();
            let plus = if index == 0 { "" } else { "+" };
            let _ = write!(out, "{plus}t{}-{}", topic.0.as_u128(), numbers.join("."));
        }
    }
    out
}

#[track_caller]
fn check(assignor: BuiltIn, topics: &str, members: &str, want: &str) {
    assert_eq!(show(&assignor.assign(&group(topics, members))), want);
}

#[test]
fn range_answers_as_kafkas_does() {
    for (topics, members, want) in [
        ("t1:3,t2:3", "m1:t1+t2;m2:t1+t2", "m1=t1-0.1+t2-0.1;m2=t1-2+t2-2"),
        (
            "t1:10,t2:7",
            "m1:t1+t2;m2:t1+t2;m3:t1+t2",
            "m1=t1-0.1.2.3+t2-0.1.2;m2=t1-4.5.6+t2-3.4;m3=t1-7.8.9+t2-5.6",
        ),
        ("t1:2", "m1:t1;m2:t1;m3:t1", "m1=t1-0;m2=t1-1;m3="),
        ("t1:5,t2:5", "m1:t1;m2:t1+t2;m3:t2", "m1=t1-0.1.2;m2=t1-3.4+t2-0.1.2;m3=t2-3.4"),
        // Static members come first.
        (
            "t1:4,t2:4",
            "m3/a:t1+t2;m1:t1+t2;m2/b:t1+t2",
            "m1=t1-3+t2-3;m2=t1-2+t2-2;m3=t1-0.1+t2-0.1",
        ),
        // What was assigned does not count.
        (
            "t1:3,t2:5",
            "m1:t1+t2=t1-0.1.2+t2-0.1.2.3.4;m2:t1+t2",
            "m1=t1-0.1+t2-0.1.2;m2=t1-2+t2-3.4",
        ),
    ] {
        check(BuiltIn::Range, topics, members, want);
    }
}

/// Kafka goes through members in the order of a hash table; these are examples in which that does not show.
#[test]
fn uniform_answers_as_kafkas_does() {
    for (topics, members, want) in [
        ("t1:3,t2:3", "m1:t1+t2;m2:t1+t2", "m1=t1-0.1.2;m2=t2-0.1.2"),
        ("t1:7", "m1:t1=t1-0.1;m2:t1=t1-2.3;m3:t1=t1-4.5.6", "m1=t1-0.1;m2=t1-2.3;m3=t1-4.5.6"),
        ("t1:6", "m1:t1=t1-0.1.2;m2:t1=t1-3.4.5;m3:t1", "m1=t1-0.1;m2=t1-3.4;m3=t1-2.5"),
        ("t1:6,t2:6", "m1:t1+t2=t1-0.1.2.3.4.5;m2:t2", "m1=t1-0.1.2.3.4.5;m2=t2-0.1.2.3.4.5"),
    ] {
        check(BuiltIn::Uniform, topics, members, want);
    }
}

/// The numbers of partitions are those of Kafka's answers.
#[test]
fn uniform_evens_out_overlapping_subscriptions_as_kafkas_does() {
    for (topics, members, want) in [
        ("t1:5,t2:5", "m1:t1;m2:t1+t2;m3:t2", [3, 3, 4].as_slice()),
        ("t1:4,t2:6", "m1:t1+t2=t1-0.1+t2-0.1.2;m2:t1=t1-2.3;m3:t2=t2-3.4.5", &[3, 3, 4]),
        ("t1:9,t2:2,t3:4", "m1:t1+t2;m2:t2+t3;m3:t1+t3;m4:t1", &[3, 4, 4, 4]),
    ] {
        let assignments = BuiltIn::Uniform.assign(&group(topics, members));
        let mut sizes: Vec<usize> = assignments.values().map(size).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, want, "{}", show(&assignments));
    }
}

#[test]
fn a_member_that_has_one_more_keeps_it() {
    // Kafka's takes one from m3, since m1 comes first.
    let had = "m1=t1-0;m2=t1-1;m3=t1-2.3";
    check(BuiltIn::Uniform, "t1:4", "m1:t1=t1-0;m2:t1=t1-1;m3:t1=t1-2.3", had);
}

#[test]
fn what_was_assigned_may_be_gone_or_someone_elses() {
    for assignor in BuiltIn::ALL {
        let members = "m1:t1=t1-0.7+t9-1;m2:t1=t1-0.1+t2-0";
        check(assignor, "t1:2,t2:1", members, "m1=t1-0;m2=t1-1");
    }
    let other = "m1:t1+t2=t1-0.7+t9-1;m2:t1=t1-0.1+t2-0";
    check(BuiltIn::Uniform, "t1:2,t2:1", other, "m1=t1-0+t2-0;m2=t1-1");
}

#[test]
fn members_without_topics_and_groups_without_members_are_served() {
    for assignor in BuiltIn::ALL {
        assert_eq!(assignor.assign(&GroupSpec::default()), Assignments::new());
        check(assignor, "t1:0,t2:1", "m1:t9;m2:t1", "m1=;m2=");
        check(assignor, "t2:1", "m1:t9;m2:t9", "m1=;m2=");
    }
}

#[test]
fn assignors_are_known_by_kafkas_names() {
    assert_eq!(BuiltIn::named("uniform"), Some(BuiltIn::Uniform));
    assert_eq!(BuiltIn::named("range"), Some(BuiltIn::Range));
    assert_eq!(BuiltIn::named("sticky"), None);
    assert!(BuiltIn::ALL.iter().all(|it| BuiltIn::named(it.name()) == Some(*it)));
}

fn size(assigned: &TopicPartitions) -> usize {
    assigned.0.values().map(BTreeSet::len).sum()
}

type Owned = BTreeMap<(TopicId, i32), MemberId>;

/// Each partition's owner.
fn owned(assignments: &Assignments) -> Owned {
    let mut owned = Owned::new();
    for (member, assigned) in assignments {
        for (topic, partitions) in &assigned.0 {
            for partition in partitions {
                let before = owned.insert((*topic, *partition), member.clone());
                assert_eq!(before, None, "two have {partition}");
            }
        }
    }
    owned
}

/// Each partition of a topic with subscribers has one owner, which subscribes to it.
fn assert_complete(group: &GroupSpec, assignments: &Assignments) {
    assert!(assignments.keys().eq(group.members.keys()));
    let owned = owned(assignments);
    let subscribed: BTreeSet<_> =
        group.members.values().flat_map(|it| group.topics_of(it)).collect();
    let all = subscribed.iter().flat_map(|(topic, count)| (0..*count).map(|it| (*topic, it)));
    assert!(all.eq(owned.keys().copied()));
    for ((topic, _), member) in &owned {
        assert!(group.members[member].subscribed.contains(topic));
    }
}

/// No partition could move to one of its subscribers that has two fewer.
fn assert_even(group: &GroupSpec, assignments: &Assignments) {
    for (owner, assigned) in assignments {
        for topic in assigned.0.keys() {
            let others = group.members.iter().filter(|(_, it)| it.subscribed.contains(topic));
            for (other, _) in others {
                assert!(size(assigned) <= size(&assignments[other]) + 1, "{owner} and {other}");
            }
        }
    }
}

fn moved(before: &Owned, after: &Owned) -> usize {
    before.iter().filter(|(partition, owner)| after.get(partition) != Some(owner)).count()
}

/// The group as it is when its members have what they were assigned.
fn settled(group: &GroupSpec, assignments: &Assignments) -> GroupSpec {
    let mut group = group.clone();
    for (id, member) in &mut group.members {
        member.assigned = assignments.get(id).cloned().unwrap_or_default();
    }
    group
}

fn any_topics() -> impl Strategy<Value = BTreeMap<TopicId, TopicSpec>> {
    proptest::collection::vec(0..12, 1..5).prop_map(|counts| {
        let topics = (1u128..).zip(counts);
        topics
            .map(|(id, partitions)| (TopicId(Uuid::from_u128(id)), TopicSpec { partitions }))
            .collect()
    })
}

/// Anything, also what no broker would have: topics that are not there, partitions of two members.
fn any_member() -> impl Strategy<Value = MemberSpec> {
    let topic = || (1u128..6).prop_map(|it| TopicId(Uuid::from_u128(it)));
    let numbers = proptest::collection::btree_set(-1..14, 1..8);
    (
        proptest::option::of("[a-c]"),
        proptest::collection::btree_set(topic(), 0..5),
        proptest::collection::btree_map(topic(), numbers, 0..4),
    )
        .prop_map(|(instance, subscribed, assigned)| MemberSpec {
            group_instance_id: instance.map(Into::into),
            rack_id: None,
            subscribed,
            assigned: TopicPartitions(assigned),
        })
}

fn any_group() -> impl Strategy<Value = GroupSpec> {
    let members = proptest::collection::btree_map("[a-z]{1,3}", any_member(), 0..9);
    (any_topics(), members).prop_map(|(topics, members)| {
        let members = members.into_iter().map(|(id, it)| (id.as_str().into(), it)).collect();
        GroupSpec { members, topics }
    })
}

fn any_homogeneous_group() -> impl Strategy<Value = GroupSpec> {
    any_group().prop_map(|mut group| {
        let all: BTreeSet<TopicId> = group.topics.keys().copied().collect();
        group.members.values_mut().for_each(|it| it.subscribed.clone_from(&all));
        group
    })
}

proptest! {
    #[test]
    fn each_partition_goes_to_one_of_its_subscribers(group in any_group()) {
        for assignor in BuiltIn::ALL {
            let assignments = assignor.assign(&group);
            assert_complete(&group, &assignments);
            prop_assert_eq!(&assignor.assign(&group), &assignments);
        }
    }

    #[test]
    fn uniform_is_even_and_settles(group in any_group()) {
        let assignments = BuiltIn::Uniform.assign(&group);
        assert_even(&group, &assignments);
        prop_assert_eq!(BuiltIn::Uniform.assign(&settled(&group, &assignments)), assignments);
    }

    #[test]
    fn range_is_even_for_each_topic(group in any_group()) {
        let assignments = BuiltIn::Range.assign(&group);
        for topic in group.topics.keys() {
            let subscribers = group.members.iter().filter(|(_, it)| it.subscribed.contains(topic));
            let counts = subscribers.map(|(id, _)| assignments[id].0.get(topic).map_or(0, BTreeSet::len));
            let counts: Vec<usize> = counts.collect();
            prop_assert!(counts.iter().max() <= counts.iter().min().map(|it| it + 1).as_ref());
        }
    }

    /// The fewest moves with which all have equally many: what each has above its share.
    #[test]
    fn uniform_moves_no_more_than_it_must(group in any_homogeneous_group(), more in 1u8..3) {
        let first = BuiltIn::Uniform.assign(&group);
        let mut group = settled(&group, &first);
        let subscribed: BTreeSet<TopicId> = group.topics.keys().copied().collect();
        for number in 0..more {
            let joins = MemberSpec { subscribed: subscribed.clone(), ..MemberSpec::default() };
            group.members.insert(format!("new{number}").as_str().into(), joins);
        }
        let second = BuiltIn::Uniform.assign(&group);
        let newcomers = second.iter().filter(|(id, _)| !first.contains_key(*id));
        let got: usize = newcomers.map(|(_, it)| size(it)).sum();
        prop_assert_eq!(moved(&owned(&first), &owned(&second)), if first.is_empty() { 0 } else { got });
        // And when they leave, only what they had moves.
        let mut left = settled(&group, &second);
        left.members.retain(|id, _| first.contains_key(id));
        if !left.members.is_empty() {
            let third = BuiltIn::Uniform.assign(&left);
            prop_assert_eq!(moved(&owned(&second), &owned(&third)), got);
        }
    }
}
