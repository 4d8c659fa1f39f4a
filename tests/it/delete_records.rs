//! `DeleteRecords`: what is deleted is not read any more, by nobody and never again.

use kafka_protocol::messages::{
    DeleteRecordsRequest, FetchRequest, ListOffsetsRequest, TopicName,
    delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic},
    fetch_request::{FetchPartition, FetchTopic},
    list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
};

use crate::support::{Broker, Client, Session};

fn name(topic: &str) -> TopicName {
    TopicName(topic.to_owned().into())
}

/// (partition, offset) pairs; error code and low watermark of each.
fn delete(client: &mut Client, topic: &str, partitions: &[(i32, i64)]) -> Vec<(i16, i64)> {
    let asked = partitions.iter().map(|&(partition, offset)| {
        DeleteRecordsPartition::default().with_partition_index(partition).with_offset(offset)
    });
    let topic =
        DeleteRecordsTopic::default().with_name(name(topic)).with_partitions(asked.collect());
    let request = DeleteRecordsRequest::default().with_topics(vec![topic]).with_timeout_ms(1_000);
    let response = client.call(2, &request);
    response.topics[0].partitions.iter().map(|it| (it.error_code, it.low_watermark)).collect()
}

fn offset_at(client: &mut Client, topic: &str, timestamp: i64) -> i64 {
    let asked = ListOffsetsPartition::default().with_timestamp(timestamp);
    let topic = ListOffsetsTopic::default().with_name(name(topic)).with_partitions(vec![asked]);
    client.call(8, &ListOffsetsRequest::default().with_topics(vec![topic])).topics[0].partitions[0]
        .offset
}

/// Error code and log start.
fn fetch(client: &mut Client, topic: &str, offset: i64) -> (i16, i64) {
    let asked = FetchPartition::default()
        .with_fetch_offset(offset)
        .with_partition_max_bytes(1 << 20)
        .with_current_leader_epoch(-1);
    let topic = FetchTopic::default().with_topic(name(topic)).with_partitions(vec![asked]);
    let request = FetchRequest::default().with_max_bytes(1 << 20).with_topics(vec![topic]);
    let response = client.call(11, &request);
    let answered = &response.responses[0].partitions[0];
    (answered.error_code, answered.log_start_offset)
}

#[test]
fn deleted_records_are_gone_at_once_and_after_a_kill() {
    let mut broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("t", 1, &[]);
    let session = Session::new(&mut client);
    for at in 0..4 {
        let batch = session.batch(at * 2, &[(None, Some("a")), (None, Some("b"))]);
        client.must_produce("t", 0, batch);
    }
    assert_eq!(delete(&mut client, "t", &[(0, 5)]), [(0, 5)]);
    for _ in 0..2 {
        assert_eq!([-2, -4, -1, 0].map(|it| offset_at(&mut client, "t", it)), [5, 5, 8, 5]);
        assert_eq!(fetch(&mut client, "t", 4), (1, -1));
        assert_eq!(fetch(&mut client, "t", 5), (0, 5));
        broker.kill_and_restart();
        client = broker.client();
    }
    assert_eq!(delete(&mut client, "t", &[(0, 2)]), [(0, 5)], "it never falls");
    assert_eq!(delete(&mut client, "t", &[(0, -1)]), [(0, 8)]);
    broker.terminate_and_restart();
    client = broker.client();
    assert_eq!([-2, -1, -3].map(|it| offset_at(&mut client, "t", it)), [8, 8, -1]);
    client.must_produce("t", 0, session.batch(8, &[(None, Some("c"))]));
    assert_eq!(fetch(&mut client, "t", 8), (0, 8));
    assert_eq!(offset_at(&mut client, "t", -3), 8);
}

#[test]
fn what_may_not_be_deleted_is_refused_for_itself_alone() {
    let broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("t", 1, &[]);
    client.create_topic("compacted", 1, &[("cleanup.policy", "compact")]);
    client.create_topic("both", 1, &[("cleanup.policy", "compact,delete")]);
    assert_eq!(
        delete(&mut client, "t", &[(0, 1), (0, -2), (1, 0), (-1, 0)]),
        [(1, -1), (1, -1), (3, -1), (3, -1)]
    );
    assert_eq!(delete(&mut client, "t", &[(0, 0)]), [(0, 0)]);
    assert_eq!(delete(&mut client, "compacted", &[(0, 0)]), [(44, -1)]);
    assert_eq!(delete(&mut client, "both", &[(0, -1)]), [(0, 0)]);
    assert_eq!(delete(&mut client, "none", &[(0, -1)]), [(3, -1)]);
    assert_eq!(delete(&mut client, "__consumer_offsets", &[(0, -1)])[0].1, -1);
}
