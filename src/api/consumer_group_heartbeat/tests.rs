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

/// What Kafka says to each request that it refuses by its form alone.
#[test]
fn a_heartbeat_that_cannot_be_one_is_refused_in_kafkas_words() {
    let beat = |epoch| joining().with_member_epoch(epoch);
    let cases = [
        (joining(), None),
        (joining().with_member_id(text("")), Some("MemberId can't be empty.")),
        (joining().with_group_id(text("").into()), Some("GroupId can't be empty.")),
        (joining().with_instance_id(Some(text(""))), Some("InstanceId can't be empty.")),
        (joining().with_rack_id(Some(text(""))), Some("RackId can't be empty.")),
        (
            joining().with_rebalance_timeout_ms(-1),
            Some("RebalanceTimeoutMs must be provided in first request."),
        ),
        (
            joining().with_topic_partitions(None),
            Some("TopicPartitions must be empty when (re-)joining."),
        ),
        (
            joining().with_topic_partitions(Some(vec![Owned::default()])),
            Some("TopicPartitions must be empty when (re-)joining."),
        ),
        (
            joining().with_subscribed_topic_names(None),
            Some(
                "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
            ),
        ),
        (joining().with_subscribed_topic_names(Some(Vec::new())), None),
        (
            joining().with_subscribed_topic_names(None).with_subscribed_topic_regex(Some(text(""))),
            None,
        ),
        (beat(-2), Some("InstanceId can't be null.")),
        (beat(-2).with_instance_id(Some(text("i"))), None),
        (beat(-3), Some("MemberEpoch is invalid.")),
        (beat(-1), None),
        (beat(1), None),
    ];
    for (request, refusal) in cases {
        assert_eq!(check::shape(&request, 1).err(), refusal, "{request:?}");
    }
}

#[test]
fn in_version_0_who_joins_may_have_no_id_and_gets_one() {
    let nameless = joining().with_member_id(text(""));
    assert_eq!(check::shape(&nameless, 0), Ok(()));
    let context = Context::of_version(0);
    let [one, other] = [(), ()].map(|()| read(&context, &nameless).unwrap().member_id);
    assert_eq!(one.as_str().len(), 22);
    assert_ne!(one, other);
    let beat = nameless.with_member_epoch(4);
    assert_eq!(check::shape(&beat, 0), Err("MemberId can't be empty."));
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
    assert!(check::shape(&joining().with_subscribed_topic_names(names(17)), 1).is_ok());
    assert!(check::shape(&joining().with_subscribed_topic_names(names(18)), 1).is_err());
}

#[test]
fn an_assignor_that_is_not_there_is_refused_with_those_that_are() {
    let known = ["uniform", "mine", "range"].map(PluginName::from).into();
    assert_eq!(check::assignor("mine", &known), Ok(()));
    let refusal =
        "ServerAssignor thine is not supported. Supported assignors: mine, range, uniform.";
    assert_eq!(check::assignor("thine", &known), Err(refusal.into()));
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
