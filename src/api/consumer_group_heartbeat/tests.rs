//! What heartbeats are read as, and how they are answered.

use kafka_protocol::protocol::StrBytes;

use super::*;
use crate::api::test_node::encodes;

fn text(it: &'static str) -> StrBytes {
    StrBytes::from_static_str(it)
}

fn joining() -> ConsumerGroupHeartbeatRequest {
    ConsumerGroupHeartbeatRequest::default()
        .with_group_id(text("g").into())
        .with_member_id(text("m"))
        .with_rebalance_timeout_ms(300_000)
        .with_subscribed_topic_names(Some(vec![text("t").into()]))
        .with_topic_partitions(Some(Vec::new()))
}

#[test]
fn in_version_0_who_joins_may_have_no_id_and_gets_one() {
    let nameless = joining().with_member_id(text(""));
    let context = Context::of_version(0);
    let [one, other] = [(), ()].map(|()| read(&context, &nameless).unwrap().member_id);
    assert_eq!(one.as_str().len(), 22);
    assert_ne!(one, other);
    let newer = read(&Context::of_version(1), &nameless).unwrap().member_id;
    assert_eq!(newer.as_str(), "", "the group refuses it");
    let beat = nameless.with_member_epoch(4);
    assert_eq!(read(&context, &beat).unwrap().member_id.as_str(), "", "the group refuses it");
}

#[test]
fn what_has_not_changed_is_not_told_on() {
    let beat = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(text("g").into())
        .with_member_id(text("m"))
        .with_member_epoch(4)
        .with_rebalance_timeout_ms(-1)
        .with_topic_partitions(None);
    let read = read(&Context::of_version(1), &beat).unwrap();
    assert_eq!((read.rebalance_timeout_ms, read.subscribed_topic_names), (None, None));
    assert_eq!((read.topic_partitions, &*read.client_host), (None, "/127.0.0.1"));
}

#[test]
fn a_subscription_that_no_record_could_hold_is_refused() {
    let name = StrBytes::from_string("x".repeat(30_000));
    let names = |count| Some(vec![name.clone().into(); count]);
    let bytes = |count| subscription_bytes(&joining().with_subscribed_topic_names(names(count)));
    assert!(bytes(17) <= SUBSCRIPTION_BYTES_MAX && bytes(18) > SUBSCRIPTION_BYTES_MAX);
    let regex = joining().with_subscribed_topic_regex(Some(name.clone()));
    assert_eq!(subscription_bytes(&regex), 30_001);
}

#[test]
fn each_version_can_tell_of_an_assignment_and_of_a_refusal() {
    let topic = TopicId(Uuid::from_u128(7));
    let beaten = ConsumerHeartbeat {
        member_id: "m".into(),
        member_epoch: 2,
        heartbeat_interval_ms: 5_000,
        assignment: Some([(topic, 3), (topic, 0)].into_iter().collect()),
    };
    let told = answer(beaten);
    let partitions = &told.assignment.as_ref().unwrap().topic_partitions;
    assert_eq!((partitions[0].topic_id, &partitions[0].partitions[..]), (topic.0, &[0, 3][..]));
    let nothing = ConsumerHeartbeat {
        member_id: "m".into(),
        member_epoch: -1,
        heartbeat_interval_ms: 0,
        assignment: None,
    };
    for version in VERSIONS {
        encodes(&told, version);
        encodes(&answer(nothing.clone()), version);
    }
}
