//! What admins ask of partitions and of the node: directories, producers, epochs, pages of partitions, reassignments.

use kafka_protocol::messages::{
    DescribeLogDirsRequest, DescribeProducersRequest, DescribeTopicPartitionsRequest, GroupId,
    ListPartitionReassignmentsRequest, OffsetCommitRequest, OffsetDeleteRequest,
    OffsetFetchRequest, OffsetForLeaderEpochRequest, TopicName,
    describe_log_dirs_request::DescribableLogDirTopic,
    describe_producers_request::TopicRequest,
    describe_topic_partitions_request::TopicRequest as PageTopic,
    offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic},
    offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic},
    offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic},
};

use crate::support::{Broker, Client, Session};

fn name(topic: &str) -> TopicName {
    TopicName(topic.to_owned().into())
}

fn group(id: &str) -> GroupId {
    GroupId(id.to_owned().into())
}

/// A broker with four records in `t-0`, of the producer that is returned.
fn with_records() -> (Broker, Client, Session) {
    let broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("t", 2, &[]);
    let session = Session::new(&mut client);
    for at in 0..2 {
        let batch = session.batch(at * 2, &[(None, Some("a")), (None, Some("b"))]);
        client.must_produce("t", 0, batch);
    }
    (broker, client, session)
}

#[test]
fn a_log_directory_tells_its_room_and_the_sizes_of_its_logs() {
    let (broker, mut client, _) = with_records();
    let all = client.call(4, &DescribeLogDirsRequest::default().with_topics(None));
    assert_eq!((all.error_code, all.results.len()), (0, 1));
    let dir = &all.results[0];
    assert_eq!((dir.error_code, &*dir.log_dir), (0, broker.data_dir().to_str().unwrap()));
    assert!(0 < dir.usable_bytes && dir.usable_bytes <= dir.total_bytes);
    let topic = dir.topics.iter().find(|it| it.name == name("t")).unwrap();
    let log = broker.data_dir().join("t-0/00000000000000000000.log");
    let sizes: Vec<_> =
        topic.partitions.iter().map(|it| (it.partition_index, it.partition_size)).collect();
    assert_eq!(sizes, [(0, std::fs::metadata(log).unwrap().len() as i64), (1, 0)]);

    let asked = DescribableLogDirTopic::default().with_topic(name("t")).with_partitions(vec![1, 9]);
    for version in 1..=4 {
        let request = DescribeLogDirsRequest::default().with_topics(Some(vec![asked.clone()]));
        let topics = &client.call(version, &request).results[0].topics;
        assert_eq!((topics.len(), topics[0].partitions.len()), (1, 1));
    }
    let none = client.call(4, &DescribeLogDirsRequest::default().with_topics(Some(vec![])));
    assert!(none.results[0].topics.is_empty());
}

#[test]
fn a_partition_tells_its_producers() {
    let (_broker, mut client, session) = with_records();
    let asked =
        TopicRequest::default().with_name(name("t")).with_partition_indexes(vec![0, 1, 2, 0]);
    let missing = TopicRequest::default().with_name(name("none")).with_partition_indexes(vec![0]);
    let invalid = TopicRequest::default().with_name(name("b!")).with_partition_indexes(vec![0]);
    let topics = vec![asked, missing, invalid];
    let response = client.call(0, &DescribeProducersRequest::default().with_topics(topics));
    let codes = |at: usize| -> Vec<i16> {
        response.topics[at].partitions.iter().map(|it| it.error_code).collect()
    };
    assert_eq!((codes(0), codes(1), codes(2)), (vec![0, 0, 3], vec![3], vec![17]));
    let producers = &response.topics[0].partitions[0].active_producers;
    assert_eq!(producers.len(), 1);
    let it = &producers[0];
    assert_eq!(
        (it.producer_id.0, it.producer_epoch, it.last_sequence),
        (session.producer_id, 0, 3)
    );
    assert_eq!((it.coordinator_epoch, it.current_txn_start_offset), (-1, -1));
    assert!(response.topics[0].partitions[1].active_producers.is_empty());
}

#[test]
fn an_epoch_ends_where_the_log_does_and_a_wrong_one_is_fenced() {
    let (_broker, mut client, _) = with_records();
    let ask = |client: &mut Client, partition, current, epoch| {
        let asked = OffsetForLeaderPartition::default()
            .with_partition(partition)
            .with_current_leader_epoch(current)
            .with_leader_epoch(epoch);
        let topic =
            OffsetForLeaderTopic::default().with_topic(name("t")).with_partitions(vec![asked]);
        let request = OffsetForLeaderEpochRequest::default().with_topics(vec![topic]);
        let answers = (2..=4).map(|version| {
            let response = client.call(version, &request);
            let it = &response.topics[0].partitions[0];
            (it.error_code, it.leader_epoch, it.end_offset)
        });
        let answers: Vec<_> = answers.collect();
        assert!(answers.iter().all(|it| *it == answers[0]));
        answers[0]
    };
    assert_eq!(ask(&mut client, 0, -1, 0), (0, 0, 4));
    assert_eq!(ask(&mut client, 0, 0, 1), (0, -1, -1), "an epoch to come");
    assert_eq!(ask(&mut client, 1, -1, 0), (0, 0, 0), "an empty log has its leader's epoch");
    assert_eq!(ask(&mut client, 0, 7, 0), (75, -1, -1));
    assert_eq!(ask(&mut client, 2, -1, 0), (3, -1, -1));
}

#[test]
fn partitions_come_page_by_page_and_none_is_being_moved() {
    let (_broker, mut client, _) = with_records();
    let topic = PageTopic::default().with_name(name("t"));
    let request = DescribeTopicPartitionsRequest::default()
        .with_topics(vec![topic])
        .with_response_partition_limit(1);
    let response = client.call(0, &request.with_cursor(None));
    assert_eq!(response.topics[0].name, Some(name("t")));
    assert_eq!(response.topics[0].partitions.len(), 1);
    let next = response.next_cursor.unwrap();
    assert_eq!((next.topic_name, next.partition_index), (name("t"), 1));

    let response = client.call(0, &ListPartitionReassignmentsRequest::default().with_topics(None));
    assert_eq!((response.error_code, response.topics.len()), (0, 0));
}

#[test]
fn offsets_are_deleted_partition_by_partition() {
    let (mut broker, mut client, _) = with_records();
    let partition = |it| {
        OffsetCommitRequestPartition::default().with_partition_index(it).with_committed_offset(3)
    };
    let topic = OffsetCommitRequestTopic::default()
        .with_name(name("t"))
        .with_partitions(vec![partition(0), partition(1)]);
    let commit = OffsetCommitRequest::default()
        .with_group_id(group("g"))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic]);
    client.wait_for_coordinator("g");
    assert_eq!(client.call(8, &commit).topics[0].partitions[0].error_code, 0);
    let delete = |client: &mut Client, id: &str| {
        let partition = |it| OffsetDeleteRequestPartition::default().with_partition_index(it);
        let topic = OffsetDeleteRequestTopic::default()
            .with_name(name("t"))
            .with_partitions(vec![partition(1), partition(2)]);
        let request =
            OffsetDeleteRequest::default().with_group_id(group(id)).with_topics(vec![topic]);
        let response = client.call(0, &request);
        let codes = response.topics.iter().flat_map(|it| &it.partitions).map(|it| it.error_code);
        (response.error_code, codes.collect::<Vec<_>>())
    };
    assert_eq!(delete(&mut client, "g"), (0, vec![0, 3]));
    client.wait_for_coordinator("none");
    assert_eq!(delete(&mut client, "none"), (69, vec![3]));
    assert_eq!(delete(&mut client, ""), (24, vec![3]));
    broker.kill_and_restart();
    let mut client = broker.client();
    client.wait_for_coordinator("g");
    let fetch = OffsetFetchRequest::default().with_group_id(group("g")).with_topics(None);
    let left = client.call(7, &fetch);
    let left: Vec<_> = left.topics[0].partitions.iter().map(|it| it.partition_index).collect();
    assert_eq!(left, [0]);
}
