//! What is shown of groups.

use bytes::{BufMut as _, BytesMut};
use kafka_protocol::{
    messages::{
        ConsumerProtocolAssignment,
        consumer_group_describe_response::{self as consumer, Assignment, TopicPartitions},
        consumer_protocol_assignment::TopicPartition,
        describe_groups_response::{DescribedGroup, DescribedGroupMember},
    },
    protocol::Encodable as _,
};

use super::*;

fn member(id: &str, partitions: Vec<i32>) -> DescribedGroupMember {
    let assigned =
        TopicPartition::default().with_topic(text("t").into()).with_partitions(partitions);
    let assignment = ConsumerProtocolAssignment::default().with_assigned_partitions(vec![assigned]);
    let mut bytes = BytesMut::new();
    bytes.put_i16(0);
    assignment.encode(&mut bytes, 0).unwrap();
    DescribedGroupMember::default()
        .with_member_id(text(id))
        .with_client_id(text("c"))
        .with_client_host(text("/127.0.0.1"))
        .with_member_assignment(bytes.freeze())
}

fn description(protocol: &str, assignor: &str) -> Description {
    let group = DescribedGroup::default()
        .with_group_id(text("billing").into())
        .with_group_state(text("Stable"))
        .with_protocol_type(text("consumer"))
        .with_protocol_data(text(protocol))
        .with_members(vec![member("m-1", vec![0, 1]), member("m-2", vec![])]);
    let assignor = Config { name: ASSIGNOR.into(), value: assignor.into(), is_default: false };
    let at = |partition| ("t".to_owned(), partition);
    Description {
        name: "billing".into(),
        group: Some(Group::from_classic(group)),
        coordinator: "127.0.0.1:9092 (1)".into(),
        configs: vec![assignor],
        assignor_protocols: vec!["range".into()],
        committed: BTreeMap::from([(at(0), 5), (at(2), 9)]),
        log_ends: BTreeMap::from([(at(0), 7), (at(1), 3), (at(2), 9)]),
    }
}

#[test]
fn members_and_lags_stand_in_kafkas_columns() {
    let mut out = Vec::new();
    description("range", "sticky").write(Some("1.0.0"), &mut out).unwrap();
    let want = "\
billing
  state: Stable
  coordinator: 127.0.0.1:9092 (1)
  protocol: consumer range
  assignor: sticky 1.0.0 (plugin)
  klamm.assignor=sticky

CONSUMER-ID  HOST        CLIENT-ID  #PARTITIONS  ASSIGNMENT
m-1          /127.0.0.1  c          2            t(0,1)
m-2          /127.0.0.1  c          0            -

TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST        CLIENT-ID
t      0          5               7               2    m-1          /127.0.0.1  c
t      1          -               3               -    m-1          /127.0.0.1  c
t      2          9               9               0    -            -           -
";
    assert_eq!(String::from_utf8(out).unwrap(), want);
}

#[test]
fn a_group_of_the_consumer_protocol_tells_its_epochs_and_who_assigned() {
    let assigned =
        TopicPartitions::default().with_topic_name(text("t").into()).with_partitions(vec![0, 1]);
    let member = consumer::Member::default()
        .with_member_id(text("m-1"))
        .with_client_id(text("c"))
        .with_client_host(text("/127.0.0.1"))
        .with_assignment(Assignment::default().with_topic_partitions(vec![assigned]));
    let group = consumer::DescribedGroup::default()
        .with_group_id(text("billing").into())
        .with_group_state(text("Reconciling"))
        .with_group_epoch(5)
        .with_assignment_epoch(4)
        .with_assignor_name(text("uniform"))
        .with_members(vec![member]);
    let mut description = description("range", "");
    description.group = Some(Group::from_consumer(group));
    let mut out = Vec::new();
    description.write(None, &mut out).unwrap();
    let told = String::from_utf8(out).unwrap();
    for line in [
        "  state: Reconciling",
        "  protocol: consumer (KIP-848), epoch 5, assigned in epoch 4",
        "  assignor: uniform",
        "m-1          /127.0.0.1  c          2            t(0,1)",
    ] {
        assert!(told.lines().any(|it| it == line), "{line:?} is not in {told}");
    }
}

#[test]
fn the_assignor_is_the_one_in_force() {
    for (protocol, plugin, want) in [
        ("range", "sticky", "sticky (plugin)"),
        ("range", "", "range (the group's leader)"),
        ("mine", "sticky", "mine (the group's leader; sticky does not answer for this protocol)"),
        ("", "sticky", "sticky (plugin)"),
        ("", "", "-"),
    ] {
        assert_eq!(description(protocol, plugin).assignor(None), want);
    }
}
