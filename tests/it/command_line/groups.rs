//! `klamm group`.

use kafka_protocol::{
    messages::{
        FindCoordinatorRequest, OffsetCommitRequest,
        offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic},
    },
    protocol::StrBytes,
};

use super::succeeds;
use crate::support::{Broker, eventually};

fn commit(broker: &Broker, group: &str, topic: &str, offsets: &[(i32, i64)]) {
    let partitions = offsets.iter().map(|&(partition, offset)| {
        OffsetCommitRequestPartition::default()
            .with_partition_index(partition)
            .with_committed_offset(offset)
    });
    let name = |it: &str| StrBytes::from_string(it.to_owned());
    let topic = OffsetCommitRequestTopic::default()
        .with_name(name(topic).into())
        .with_partitions(partitions.collect());
    let request = OffsetCommitRequest::default()
        .with_group_id(name(group).into())
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic]);
    // Makes the topic that offsets are kept in.
    let coordinator = FindCoordinatorRequest::default().with_key(name(group));
    eventually("the group's coordinator takes a commit", || {
        broker.client().call(3, &coordinator);
        let answer = broker.client().call(7, &request);
        let codes = answer.topics.iter().flat_map(|it| &it.partitions).map(|it| it.error_code);
        codes.max().filter(|it| *it == 0)
    });
}

#[test]
fn a_group_is_described_with_its_lag_and_its_assignor() {
    let broker = Broker::start();
    broker.client().create_topic("orders", 2, &[]);
    succeeds(&broker, &["produce", "orders", "-p", "1"], b"a\nb\nc\n");
    commit(&broker, "billing", "orders", &[(0, 0), (1, 1)]);
    broker.client().set_group_config("billing", "klamm.assignor", "sticky");
    let (out, told) = succeeds(&broker, &["group", "describe", "billing"], b"");
    assert_eq!(told, "group billing has no members\n");
    for want in [
        "billing\n  state: Empty\n",
        "  protocol: -\n",
        "  assignor: sticky 0.1.0 (plugin)\n",
        "  klamm.assignor=sticky\n",
        "TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID\n",
        "orders  0          0               0               0    -            -     -\n",
        "orders  1          1               3               2    -            -     -\n",
    ] {
        assert!(out.contains(want), "{out}has no\n{want}");
    }
}

#[test]
fn configs_of_a_group_are_shown_before_its_first_member_and_a_group_can_be_deleted() {
    let broker = Broker::start();
    succeeds(&broker, &["group", "alter", "billing", "-c", "klamm.assignor=sticky"], b"");
    let (out, told) = succeeds(&broker, &["group", "describe", "billing"], b"");
    assert_eq!(told, "there is no group billing yet, but configs of it\n");
    assert!(out.starts_with("billing\n  state: Dead\n"), "{out}");
    assert!(out.contains("  klamm.assignor=sticky\n"), "{out}");
    broker.client().create_topic("orders", 1, &[]);
    commit(&broker, "billing", "orders", &[(0, 0)]);
    let (out, _) = succeeds(&broker, &["group", "delete", "billing"], b"");
    assert_eq!(out, "billing: deleted\n");
    assert_eq!(succeeds(&broker, &["group", "list"], b"").0, "");
}
