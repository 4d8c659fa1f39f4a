//! What producers ask to wait for: nothing, or what there is not.

use bytes::Bytes;
use kafka_protocol::{
    messages::{
        ApiVersionsRequest, CreateTopicsRequest, ProduceRequest, TopicName,
        create_topics_request::CreatableTopic,
        produce_request::{PartitionProduceData, TopicProduceData},
    },
    protocol::StrBytes,
};

use crate::support::{Broker, Client};

const TOPIC: &str = "unanswered";

/// To one partition of the topic.
fn produce(partition: i32, records: &'static [u8]) -> ProduceRequest {
    let partition = PartitionProduceData::default()
        .with_index(partition)
        .with_records(Some(Bytes::from_static(records)));
    let topic = TopicProduceData::default()
        .with_name(TopicName(StrBytes::from_static_str(TOPIC)))
        .with_partition_data(vec![partition]);
    ProduceRequest::default().with_acks(0).with_timeout_ms(1000).with_topic_data(vec![topic])
}

/// One partition.
fn create_topic(client: &mut Client) {
    let topic = CreatableTopic::default()
        .with_name(TopicName(StrBytes::from_static_str(TOPIC)))
        .with_num_partitions(1)
        .with_replication_factor(1);
    let created = client.call(7, &CreateTopicsRequest::default().with_topics(vec![topic]));
    assert_eq!(created.topics[0].error_code, 0);
}

#[test]
fn acks_that_there_are_not_are_refused_unless_the_partition_is_unknown() {
    let broker = Broker::start();
    let mut client = broker.client();
    create_topic(&mut client);
    for (partition, code) in [(0, 21), (1, 3)] {
        let response = client.call(9, &produce(partition, b"").with_acks(7));
        assert_eq!(response.responses[0].partition_responses[0].error_code, code);
    }
}

#[test]
fn a_failure_closes_the_connection_as_in_kafka() {
    let broker = Broker::start();
    let mut client = broker.client();
    create_topic(&mut client);
    for (partition, records) in [(1, &b""[..]), (0, b"no record batch")] {
        let mut producer = broker.client();
        let _unanswered = producer.send(9, &produce(partition, records));
        let end = producer.receive_frame().unwrap_err();
        assert_eq!(end.kind(), std::io::ErrorKind::UnexpectedEof, "partition {partition}: {end}");
    }
    assert_eq!(client.call(0, &ApiVersionsRequest::default()).error_code, 0);
}
