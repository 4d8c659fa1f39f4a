//! Group requests that are well formed and absurd: each gets Kafka's error, and leaves nothing behind.

use bytes::Bytes;
use kafka_protocol::{
    messages::{
        HeartbeatRequest, JoinGroupRequest, ListGroupsRequest, OffsetCommitRequest,
        OffsetFetchRequest,
        join_group_request::JoinGroupRequestProtocol,
        offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic},
        offset_fetch_request::OffsetFetchRequestTopic,
    },
    protocol::StrBytes,
};

use crate::support::{Broker, Client, eventually};

const UNKNOWN_SERVER_ERROR: i16 = -1;
const UNKNOWN_TOPIC_OR_PARTITION: i16 = 3;
const OFFSET_METADATA_TOO_LARGE: i16 = 12;
const INVALID_GROUP_ID: i16 = 24;
const UNKNOWN_MEMBER_ID: i16 = 25;
const INVALID_SESSION_TIMEOUT: i16 = 26;
const MEMBER_ID_REQUIRED: i16 = 79;
const GROUP_MAX_SIZE_REACHED: i16 = 81;

fn text(it: &str) -> StrBytes {
    StrBytes::from_string(it.to_owned())
}

fn start(settings: &[(&str, &str)]) -> (Broker, Client) {
    let broker = Broker::with(settings);
    let mut client = broker.client();
    client.wait_for_coordinator("any");
    // Groups of every partition are asked for: none may still load.
    eventually("all groups can be listed", || {
        let listed = client.call(4, &ListGroupsRequest::default());
        (listed.error_code == 0).then_some(())
    });
    (broker, client)
}

fn join(group: &str, metadata: usize) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(text("range"))
        .with_metadata(Bytes::from(vec![0; metadata]));
    JoinGroupRequest::default()
        .with_group_id(text(group).into())
        .with_session_timeout_ms(30_000)
        .with_rebalance_timeout_ms(30_000)
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol])
}

fn groups(client: &mut Client) -> usize {
    client.call(4, &ListGroupsRequest::default()).groups.len()
}

/// Topic `t` and 9,999 that are not there.
fn ten_thousand_topics() -> Vec<String> {
    (0..9_999).map(|it| format!("absent-{it}")).chain(["t".to_owned()]).collect()
}

fn commit(topics: &[String], metadata: usize) -> OffsetCommitRequest {
    let partition = OffsetCommitRequestPartition::default()
        .with_committed_offset(7)
        .with_committed_metadata(Some(text(&"m".repeat(metadata))));
    let topics = topics.iter().map(|name| {
        OffsetCommitRequestTopic::default()
            .with_name(text(name).into())
            .with_partitions(vec![partition.clone()])
    });
    OffsetCommitRequest::default()
        .with_group_id(text("simple").into())
        .with_generation_id_or_member_epoch(-1)
        .with_topics(topics.collect())
}

#[test]
fn absurd_joins_are_refused_and_leave_no_group_behind() {
    let (_broker, mut client) = start(&[("group.max.size", "20")]);
    assert_eq!(client.call(6, &join("", 10)).error_code, INVALID_GROUP_ID);
    for session_timeout_ms in [i32::MIN, 0, 5_999, 1_800_001, i32::MAX] {
        let request = join("g", 10).with_session_timeout_ms(session_timeout_ms);
        assert_eq!(client.call(6, &request).error_code, INVALID_SESSION_TIMEOUT);
    }
    let huge = client.call(6, &join("g", 50 * 1024 * 1024));
    assert_eq!(huge.error_code, UNKNOWN_SERVER_ERROR);
    assert_eq!(groups(&mut client), 0);

    // A flood of members that never come back, each in time to be given an id.
    for it in 0..50 {
        let code = client.call(6, &join("flood", 10)).error_code;
        assert_eq!(code, if it < 20 { MEMBER_ID_REQUIRED } else { GROUP_MAX_SIZE_REACHED });
    }
    assert_eq!(groups(&mut client), 1);
}

#[test]
fn groups_that_are_only_asked_about_are_not_kept() {
    let (_broker, mut client) = start(&[]);
    for it in 0..2_000 {
        let heartbeat =
            HeartbeatRequest::default().with_group_id(text(&format!("group-{it}")).into());
        assert_eq!(client.call(3, &heartbeat).error_code, UNKNOWN_MEMBER_ID);
    }
    assert_eq!(groups(&mut client), 0);
}

#[test]
fn ten_thousand_topics_are_committed_and_fetched_one_by_one() {
    let (_broker, mut client) = start(&[]);
    client.create_topic("t", 1, &[]);
    let names = ten_thousand_topics();
    let committed = client.call(8, &commit(&names, 4_096));
    let codes: Vec<i16> = committed.topics.iter().map(|it| it.partitions[0].error_code).collect();
    assert_eq!(codes.len(), 10_000);
    assert!(codes[..9_999].iter().all(|it| *it == UNKNOWN_TOPIC_OR_PARTITION));
    assert_eq!(codes[9_999], 0);
    let larger = client.call(8, &commit(&names[9_999..], 4_097));
    assert_eq!(larger.topics[0].partitions[0].error_code, OFFSET_METADATA_TOO_LARGE);

    let wanted = names.iter().map(|name| {
        OffsetFetchRequestTopic::default()
            .with_name(text(name).into())
            .with_partition_indexes(vec![0])
    });
    let request = OffsetFetchRequest::default()
        .with_group_id(text("simple").into())
        .with_topics(Some(wanted.collect()));
    let fetched = client.call(7, &request);
    let offsets: Vec<i64> =
        fetched.topics.iter().map(|it| it.partitions[0].committed_offset).collect();
    assert_eq!(offsets.len(), 10_000);
    assert!(offsets[..9_999].iter().all(|it| *it == -1));
    assert_eq!(offsets[9_999], 7);
    assert_eq!(fetched.topics[9_999].partitions[0].metadata.as_ref().unwrap().len(), 4_096);
}
