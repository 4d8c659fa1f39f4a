//! Members come, share, leave for a while or for good, or are not heard of any more.

use klamm::base::ErrorCode;

use super::{GROUP, Member, Wish, assert_disjoint, settle, start, start_with};
use crate::support::eventually;

#[test]
fn partitions_are_handed_over_and_never_owned_twice() {
    let (broker, _) = start();
    let mut members = vec![Member::joined(&broker, GROUP, Wish::topic("t"))];
    settle(&mut members, 6);
    members.push(Member::joined(&broker, GROUP, Wish::topic("t")));
    assert!(members[1].owned.is_empty(), "nobody has given anything up yet");
    settle(&mut members, 6);
    assert!(members.iter().all(|it| it.owned.len() == 3));
    members.push(Member::joined(&broker, GROUP, Wish::topic("t")));
    settle(&mut members, 6);
    assert!(members.iter().all(|it| it.owned.len() == 2));
    let mut first = members.remove(0);
    first.leave(-1);
    assert_eq!(first.refused_as_member(1), ErrorCode::UnknownMemberId);
    settle(&mut members, 6);
    assert!(members.iter().all(|it| it.owned.len() == 3));
}

#[test]
fn a_member_of_another_epoch_is_fenced_and_joins_again() {
    let (broker, _) = start();
    let mut member = Member::joined(&broker, GROUP, Wish::topic("t"));
    settle(std::slice::from_mut(&mut member), 6);
    let epoch = member.epoch;
    member.epoch = epoch + 7;
    assert_eq!(member.refused(), ErrorCode::FencedMemberEpoch);
    member.epoch = 0;
    member.owned.clear();
    settle(std::slice::from_mut(&mut member), 6);
}

#[test]
fn a_static_member_that_comes_back_finds_what_it_had() {
    let (broker, _) = start();
    let wish = |instance| Wish::topic("t").instance(instance);
    let mut members = ["one", "two"].map(|it| Member::joined(&broker, GROUP, wish(it)));
    settle(&mut members, 6);
    let [mut one, mut two] = members;
    let mut rival = Member::new(&broker, GROUP, wish("one"));
    assert_eq!(rival.refused(), ErrorCode::UnreleasedInstanceId);

    let had = one.owned.clone();
    one.leave(-2);
    two.beat();
    assert_eq!(two.owned.len(), 3, "its partitions wait for it");
    rival.beat();
    assert_eq!(rival.owned, had);
    assert_eq!(one.refused_as_member(two.epoch), ErrorCode::FencedInstanceId);
    let mut members = [rival, two];
    assert_disjoint(&members);
    settle(&mut members, 6);
    assert_eq!(members[0].owned, had);
}

#[test]
fn who_is_not_heard_of_any_more_loses_its_partitions() {
    let (broker, mut client) = start_with(&[
        ("group.consumer.min.session.timeout.ms", "5000"),
        ("group.consumer.min.heartbeat.interval.ms", "1000"),
    ]);
    client.set_group_config(GROUP, "consumer.heartbeat.interval.ms", "1000");
    client.set_group_config(GROUP, "consumer.session.timeout.ms", "5000");
    let mut members = [(); 2].map(|()| Member::joined(&broker, GROUP, Wish::topic("t")));
    assert_eq!(members[0].beat().heartbeat_interval_ms, 1_000);
    settle(&mut members, 6);
    let [mut silent, mut other] = members;
    eventually("the other member has all", || {
        other.beat();
        (other.owned.len() == 6).then_some(())
    });
    assert_eq!(silent.refused(), ErrorCode::UnknownMemberId);
}

#[test]
fn a_topic_that_grows_or_goes_changes_what_members_have() {
    let (broker, mut client) = start();
    let wish = Wish { topics: Some(vec!["t", "later"]), ..Wish::default() };
    let mut members = [(); 2].map(|()| Member::joined(&broker, GROUP, wish.clone()));
    settle(&mut members, 6);
    client.add_partitions("t", 8);
    settle(&mut members, 8);
    client.create_topic("later", 3, &[]);
    settle(&mut members, 11);
    client.delete_topic("t");
    settle(&mut members, 3);
}

#[test]
fn a_regular_expression_finds_topics_also_those_that_come_later() {
    let (broker, mut client) = start();
    for topic in ["logs-a", "logs-b", "logs", "old-logs-c"] {
        client.create_topic(topic, 2, &[]);
    }
    let mut members = [(); 2].map(|()| Member::joined(&broker, GROUP, Wish::regex("logs-.*")));
    settle(&mut members, 4);
    client.create_topic("logs-later", 4, &[]);
    settle(&mut members, 8);
    client.delete_topic("logs-a");
    settle(&mut members, 6);
    let mut wrong = Member::new(&broker, GROUP, Wish::regex("logs-(.*"));
    assert_eq!(wrong.refused(), ErrorCode::InvalidRegularExpression);
}
