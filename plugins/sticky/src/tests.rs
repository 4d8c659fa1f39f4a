//! Examples, and what must hold for every group: validity, the best balance, stickiness.

use super::*;
use klamm_plugin::assignor::{Member, Partition, Topic, TopicPartitions, check};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn member(id: &str, topics: &[&str]) -> Member {
    let topics = topics.iter().map(|topic| (*topic).into()).collect();
    Member { id: id.into(), topics, ..Member::default() }
}

fn topic(name: &str, partitions: u32) -> Topic {
    let partitions = (0..partitions).map(|index| Partition { index, ..Partition::default() });
    Topic { name: name.into(), partitions: partitions.collect() }
}

fn group(members: Vec<Member>, topics: Vec<Topic>) -> Group {
    Group { id: "g".into(), members, topics }
}

type Answer = BTreeMap<String, Vec<TopicPartitions>>;

fn assign(group: &Group) -> Answer {
    let answer = Sticky.assign(group).unwrap();
    check(group, &answer).unwrap();
    answer.into_iter().map(|given| (given.member_id, given.partitions)).collect()
}

/// The group as it comes to its next rebalance.
fn own(group: &mut Group, answer: &Answer) {
    for member in &mut group.members {
        member.owned = answer.get(&member.id).cloned().unwrap_or_default();
    }
}

fn load(lists: &[TopicPartitions]) -> usize {
    lists.iter().map(|list| list.partitions.len()).sum()
}

fn loads(answer: &Answer) -> Vec<usize> {
    answer.values().map(|lists| load(lists)).collect()
}

/// Partitions that members had before and have still.
fn kept(group: &Group, answer: &Answer) -> usize {
    let flat = |lists: &[TopicPartitions]| -> Vec<(String, u32)> {
        let pairs = |list: &TopicPartitions| {
            let topic = list.topic.clone();
            list.partitions
                .iter()
                .map(move |partition| (topic.clone(), *partition))
                .collect::<Vec<_>>()
        };
        lists.iter().flat_map(pairs).collect()
    };
    let member_kept = |member: &Member| {
        let now = flat(&answer[&member.id]);
        flat(&member.owned).iter().filter(|pair| now.contains(pair)).count()
    };
    group.members.iter().map(member_kept).sum()
}

#[test]
fn when_one_of_three_leaves_the_others_keep_all_they_had() {
    let mut group =
        group(["a", "b", "c"].map(|id| member(id, &["t"])).to_vec(), vec![topic("t", 12)]);
    let before = assign(&group);
    assert_eq!(loads(&before), [4, 4, 4]);
    own(&mut group, &before);
    group.members.remove(1);
    let after = assign(&group);
    assert_eq!(loads(&after), [6, 6]);
    assert_eq!(kept(&group, &after), 8);
}

#[test]
fn a_newcomer_takes_only_its_share() {
    let mut group = group(["a", "b"].map(|id| member(id, &["t"])).to_vec(), vec![topic("t", 12)]);
    let before = assign(&group);
    own(&mut group, &before);
    group.members.push(member("c", &["t"]));
    let after = assign(&group);
    assert_eq!(loads(&after), [4, 4, 4]);
    assert_eq!(kept(&group, &after), 8);
}

#[test]
fn of_two_that_claim_a_partition_the_first_keeps_it() {
    let owned = vec![TopicPartitions { topic: "t".into(), partitions: vec![3] }];
    let claiming = |id: &str| Member { owned: owned.clone(), ..member(id, &["t"]) };
    let group = group(vec![claiming("a"), claiming("b")], vec![topic("t", 4)]);
    let answer = assign(&group);
    assert!(answer["a"][0].partitions.contains(&3));
    assert_eq!(loads(&answer), [2, 2]);
}

#[test]
fn what_is_gone_or_no_longer_subscribed_is_not_kept() {
    let lists = ["gone", "left", "t"]
        .map(|topic| TopicPartitions { topic: topic.into(), partitions: vec![0, 9] });
    let a = Member { owned: lists.to_vec(), ..member("a", &["t"]) };
    let group = group(vec![a, member("b", &["left"])], vec![topic("left", 1), topic("t", 2)]);
    assert_eq!(loads(&assign(&group)), [2, 1]);
}

/// `a` can only be relieved through `b`: what `c` can take `a` does not hold.
#[test]
fn a_chain_of_members_evens_out_what_no_single_move_can() {
    let hold = |topic: &str, partitions: &[u32]| TopicPartitions {
        topic: topic.into(),
        partitions: partitions.to_vec(),
    };
    let members = vec![
        Member { owned: vec![hold("t", &[0, 1, 2])], ..member("a", &["t"]) },
        Member { owned: vec![hold("u", &[0, 1])], ..member("b", &["t", "u"]) },
        Member { owned: vec![hold("u", &[2])], ..member("c", &["u"]) },
    ];
    let answer = assign(&group(members, vec![topic("t", 3), topic("u", 3)]));
    assert_eq!(loads(&answer), [2, 2, 2]);
}

/// A group of the size that the call limit must hold for.
#[test]
fn a_thousand_members_and_ten_thousand_partitions_balance() {
    let topics: Vec<Topic> = (0..100).map(|i| topic(&format!("t{i:02}"), 100)).collect();
    let names: Vec<&str> = topics.iter().map(|topic| topic.name.as_str()).collect();
    let members = (0..1000).map(|i| member(&format!("m{i:04}"), &names)).collect();
    let mut group = group(members, topics.clone());
    let answer = assign(&group);
    assert!(loads(&answer).into_iter().all(|load| load == 10));
    own(&mut group, &answer);
    group.members.truncate(900);
    let after = assign(&group);
    assert_eq!(kept(&group, &after), 9000);
}

fn arbitrary() -> impl Strategy<Value = Group> {
    let sizes = prop::collection::vec(0..9_u32, 1..5);
    let members = prop::collection::vec(
        (1..16_u8, prop::collection::vec((0..4_usize, 0..9_u32), 0..12)),
        1..7,
    );
    (sizes, members).prop_map(|(sizes, members)| build(&sizes, &members))
}

/// Subscription and what it owns. Bit `i` of a subscription is topic `i`.
type Subscriber = (u8, Vec<(usize, u32)>);

/// Topics without a subscriber do not reach an assignor.
fn build(sizes: &[u32], members: &[Subscriber]) -> Group {
    let subscribed = |i: usize| members.iter().any(|(bits, _)| bits >> i & 1 == 1);
    let topics =
        (0..sizes.len()).filter(|i| subscribed(*i)).map(|i| topic(&format!("t{i}"), sizes[i]));
    let member = |(m, (bits, owned)): (usize, &Subscriber)| {
        let topics = (0..sizes.len()).filter(|i| bits >> i & 1 == 1).map(|i| format!("t{i}"));
        let own = |(i, p): &(usize, u32)| TopicPartitions {
            topic: format!("t{i}"),
            partitions: vec![*p],
        };
        let owned = owned.iter().map(own).collect();
        Member { id: format!("m{m}"), topics: topics.collect(), owned, ..Member::default() }
    };
    group(members.iter().enumerate().map(member).collect(), topics.collect())
}

/// The smallest sum of squared loads, by trying every assignment of counts topic by topic.
fn best_cost(group: &Group) -> usize {
    let mut reachable: Vec<Vec<usize>> = vec![vec![0; group.members.len()]];
    for topic in &group.topics {
        let takers: Vec<usize> = (0..group.members.len())
            .filter(|m| group.members[*m].subscribes_to(&topic.name))
            .collect();
        for _ in &topic.partitions {
            let give = |loads: &Vec<usize>| {
                let loads = loads.clone();
                takers.clone().into_iter().map(move |taker| {
                    let mut loads = loads.clone();
                    loads[taker] += 1;
                    loads
                })
            };
            reachable = reachable.iter().flat_map(give).collect();
            reachable.sort_unstable();
            reachable.dedup();
        }
    }
    reachable.iter().map(|loads| cost(loads)).min().unwrap()
}

fn cost(loads: &[usize]) -> usize {
    loads.iter().map(|load| load * load).sum()
}

proptest! {
    #[test]
    fn every_answer_is_valid_and_the_same_twice(group in arbitrary()) {
        let answer = Sticky.assign(&group).unwrap();
        prop_assert_eq!(check(&group, &answer), Ok(()));
        prop_assert_eq!(answer, Sticky.assign(&group).unwrap());
    }

    #[test]
    fn no_assignment_is_more_even(
        sizes in prop::collection::vec(0..4_u32, 1..4),
        members in prop::collection::vec((1..8_u8, prop::collection::vec((0..3_usize, 0..4_u32), 0..6)), 1..5),
    ) {
        let group = build(&sizes, &members);
        prop_assert_eq!(cost(&loads(&assign(&group))), best_cost(&group));
    }

    #[test]
    fn equal_subscriptions_differ_by_one_partition_at_most(
        sizes in prop::collection::vec(0..20_u32, 1..5),
        owned in prop::collection::vec(prop::collection::vec((0..4_usize, 0..20_u32), 0..30), 1..8),
    ) {
        let members: Vec<_> = owned.into_iter().map(|owned| (15, owned)).collect();
        let loads = loads(&assign(&build(&sizes, &members)));
        prop_assert!(loads.iter().max().unwrap() - loads.iter().min().unwrap() <= 1);
    }

    #[test]
    fn nothing_moves_when_nothing_changed(mut group in arbitrary()) {
        let before = assign(&group);
        own(&mut group, &before);
        prop_assert_eq!(assign(&group), before);
    }

    /// With equal subscriptions the best is known: each member can keep up to its share, and as many
    /// members as there are longer shares one more.
    #[test]
    fn with_equal_subscriptions_as_much_is_kept_as_balance_allows(
        size in 1..40_u32,
        before_members in 1..8_usize,
        after in prop::collection::vec(0..12_usize, 1..8),
    ) {
        let members = |ids: &[usize]| ids.iter().map(|i| member(&format!("m{i:02}"), &["t"])).collect();
        let mut group = group(members(&(0..before_members).collect::<Vec<_>>()), vec![topic("t", size)]);
        let before = assign(&group);
        let mut after = after;
        after.sort_unstable();
        after.dedup();
        group.members = members(&after);
        own(&mut group, &before);
        let (share, longer) = (size as usize / after.len(), size as usize % after.len());
        let had: Vec<usize> = group.members.iter().map(|m| load(&m.owned)).collect();
        let whole: usize = had.iter().map(|had| (*had).min(share)).sum();
        let more = had.iter().filter(|had| **had > share).count().min(longer);
        prop_assert_eq!(kept(&group, &assign(&group)), whole + more);
    }
}
