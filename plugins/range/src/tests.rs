//! Kafka's documented examples, the order of members, and validity for arbitrary groups.

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
    let answer = Range.assign(&group).unwrap();
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
fn the_first_members_get_one_more_of_each_topic() {
    let members = vec![member("C0", &["t0", "t1"]), member("C1", &["t0", "t1"])];
    let given = assign(members, vec![topic("t0", 3), topic("t1", 3)]);
    assert_eq!(given, ["C0: t0-0 t0-1 t1-0 t1-1", "C1: t0-2 t1-2"]);
}

#[test]
fn only_subscribers_of_a_topic_share_it() {
    let members =
        vec![member("a", &["t0"]), member("b", &["t0", "t1"]), member("c", &["gone", "t1"])];
    let given = assign(members, vec![topic("t0", 2), topic("t1", 5)]);
    assert_eq!(given, ["a: t0-0", "b: t0-1 t1-0 t1-1 t1-2", "c: t1-3 t1-4"]);
}

#[test]
fn static_members_keep_their_place_under_a_new_member_id() {
    let named = |id: &str, instance: &str| Member {
        instance_id: Some(instance.into()),
        ..member(id, &["t"])
    };
    let before = assign(vec![named("C0", "I0"), named("C1", "I1")], vec![topic("t", 3)]);
    let after = assign(vec![named("C2", "I1"), named("C3", "I0")], vec![topic("t", 3)]);
    assert_eq!(before, ["C0: t-0 t-1", "C1: t-2"]);
    assert_eq!(after, ["C3: t-0 t-1", "C2: t-2"]);
}

#[test]
fn more_members_than_partitions_leave_the_last_ones_idle() {
    let members = ["a", "b", "c"].map(|id| member(id, &["t"])).to_vec();
    assert_eq!(assign(members, vec![topic("t", 2)]), ["a: t-0", "b: t-1", "c:"]);
}

/// Topics by name with their numbers of partitions; each partition has replicas in `replicas` racks following each other,
/// the next one from a rack further on, as Kafka places them.
fn placed(sizes: &[(&str, u32)], replicas: usize, racks: &[&str]) -> Vec<Topic> {
    let mut next = 0;
    let mut partition = |index| {
        let in_racks = racks.iter().cycle().skip(next % racks.len()).take(replicas);
        next += 1;
        Partition {
            index,
            racks: in_racks.map(|rack| (*rack).into()).collect(),
            ..Partition::default()
        }
    };
    let mut topic = |(name, size): &(&str, u32)| Topic {
        name: (*name).into(),
        partitions: (0..*size).map(&mut partition).collect(),
    };
    sizes.iter().map(&mut topic).collect()
}

/// Members `A`, `B` … of these racks (`-`: none), each with its topics.
fn in_racks(racks: &str, topics: &[&[&str]]) -> Vec<Member> {
    let ids = ["A", "B", "C", "D"];
    let members = racks.chars().zip(ids).zip(topics);
    let members = members.map(|((rack, id), topics)| Member {
        rack: Some(rack.to_string()).filter(|it| it != "-"),
        ..member(id, topics)
    });
    members.collect()
}

/// Racks change nothing where they cannot help.
#[test]
fn racks_that_cannot_help_are_not_looked_at() {
    let sizes = [("t", 6), ("u", 7), ("v", 2)];
    let all: &[&str] = &["t", "u", "v"];
    let plain = assign(in_racks("---", &[all; 3]), placed(&sizes, 1, &["a", "b", "c"]));
    for (members, topics) in [
        // Every partition is everywhere.
        ("abc", placed(&sizes, 3, &["a", "b", "c"])),
        // No member is where replicas are, or no broker has a rack.
        ("def", placed(&sizes, 1, &["a", "b", "c"])),
        ("-ef", placed(&sizes, 1, &["a", "b", "c"])),
        ("abc", sizes.map(|(name, size)| topic(name, size)).to_vec()),
    ] {
        assert_eq!(assign(in_racks(members, &[all; 3]), topics), plain, "{members}");
    }
}

/// What Kafka's own assignor gives in the same cases.
#[test]
fn members_get_what_is_in_their_rack_and_then_the_rest() {
    let all: &[&str] = &["t", "u", "v"];
    let sizes = [("t", 6), ("u", 7), ("v", 2)];
    let abc = ["a", "b", "c"];
    let one = assign(in_racks("abc", &[all; 3]), placed(&sizes, 1, &abc));
    assert_eq!(one, ["A: t-0 t-3 u-0 u-3 u-6", "B: t-1 t-4 u-1 u-4 v-0", "C: t-2 t-5 u-2 u-5 v-1"]);
    let two = assign(in_racks("abc", &[all; 3]), placed(&sizes, 2, &abc));
    assert_eq!(two, ["A: t-0 t-2 u-0 u-2 u-3 v-1", "B: t-1 t-3 u-1 u-4 v-0", "C: t-4 t-5 u-5 u-6"]);
    let fewer = assign(in_racks("abc", &[all, all, &["t", "v"]]), placed(&sizes, 1, &abc));
    assert_eq!(
        fewer,
        ["A: t-0 t-3 u-0 u-2 u-3 u-6", "B: t-1 t-4 u-1 u-4 u-5 v-0", "C: t-2 t-5 v-1"]
    );
}

#[test]
fn topics_that_are_joined_by_key_stay_joined_whatever_the_racks() {
    let all: &[&str] = &["t", "u", "v"];
    let sizes = [("t", 5), ("u", 5), ("v", 5)];
    let abc = ["a", "b", "c"];
    // No rack suits a partition of all three topics.
    let joined = assign(in_racks("abc", &[all; 3]), placed(&sizes, 1, &abc));
    assert_eq!(
        joined,
        ["A: t-0 t-1 u-0 u-1 v-0 v-1", "B: t-2 t-3 u-2 u-3 v-2 v-3", "C: t-4 u-4 v-4"]
    );
    // One suits the two that are read by the same members.
    let apart = assign(in_racks("abc", &[all, all, &["t", "v"]]), placed(&sizes, 2, &abc));
    assert_eq!(
        apart,
        ["A: t-2 u-0 u-1 u-3 v-2", "B: t-0 t-3 u-2 u-4 v-0 v-3", "C: t-1 t-4 v-1 v-4"]
    );
}

#[test]
fn pairs_of_topics_follow_the_racks_together() {
    let (tu, vw): (&[&str], &[&str]) = (&["t", "u"], &["v", "w"]);
    let sizes = [("t", 6), ("u", 6), ("v", 2), ("w", 2)];
    let given = assign(in_racks("abba", &[tu, tu, vw, vw]), placed(&sizes, 1, &["a", "b"]));
    assert_eq!(
        given,
        ["A: t-0 t-2 t-4 u-0 u-2 u-4", "B: t-1 t-3 t-5 u-1 u-3 u-5", "C: v-1 w-1", "D: v-0 w-0"]
    );
}

proptest! {
    #[test]
    fn racks_cost_no_evenness_and_pull_no_joined_topics_apart(
        sizes in prop::collection::vec(1..9_u32, 1..5),
        racks in prop::collection::vec(0..4_usize, 1..7),
        places in prop::collection::vec(prop::collection::vec(0..4_usize, 0..3), 40),
    ) {
        let name = |rack: usize| ["-", "a", "b", "c"][rack].to_string();
        let mut places = places.into_iter();
        let mut partition = |index| Partition {
            index,
            racks: places.next().unwrap_or_default().into_iter().map(name).collect(),
            ..Partition::default()
        };
        let topics: Vec<Topic> = (0..)
            .zip(&sizes)
            .map(|(at, size)| Topic {
                name: format!("t{at}"),
                partitions: (0..*size).map(&mut partition).collect(),
            })
            .collect();
        let names: Vec<&str> = topics.iter().map(|topic| topic.name.as_str()).collect();
        let members = racks.iter().enumerate().map(|(m, rack)| Member {
            rack: (*rack > 0).then(|| name(*rack)),
            ..member(&format!("m{m}"), &names)
        });
        let group = Group { id: "g".into(), members: members.collect(), topics: topics.clone() };
        let answer = Range.assign(&group).unwrap();
        prop_assert_eq!(check(&group, &answer), Ok(()));
        let of = |assignment: &Assignment, topic: &str| -> Vec<u32> {
            let lists = assignment.partitions.iter().filter(|list| list.topic == topic);
            lists.flat_map(|list| list.partitions.clone()).collect()
        };
        for topic in &topics {
            for assignment in &answer {
                let count = of(assignment, &topic.name).len();
                let share = topic.partitions.len() / racks.len();
                prop_assert!(count == share || count == share + 1);
                for other in topics.iter().filter(|it| it.partitions.len() == topic.partitions.len()) {
                    prop_assert_eq!(of(assignment, &topic.name), of(assignment, &other.name));
                }
            }
        }
    }

    #[test]
    fn every_answer_is_valid_and_even_for_each_topic(
        sizes in prop::collection::vec(0..20_u32, 1..5),
        subscriptions in prop::collection::vec(1..16_u8, 1..9),
    ) {
        let group = arbitrary(&sizes, &subscriptions);
        let answer = Range.assign(&group).unwrap();
        prop_assert_eq!(check(&group, &answer), Ok(()));
        for topic in &group.topics {
            let subscribers = group.members.iter().filter(|m| m.subscribes_to(&topic.name)).count();
            let most = topic.partitions.len().div_ceil(subscribers);
            let lists = answer.iter().flat_map(|a| &a.partitions).filter(|list| list.topic == topic.name);
            for list in lists {
                prop_assert!(list.partitions.len() <= most);
                prop_assert!(list.partitions.is_sorted());
            }
        }
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
