//! Against a quorum of one.

use kafka_protocol::protocol::StrBytes;

use super::*;
use crate::{
    api::{
        metadata_change::fresh_topic_id,
        test_node::{TestNode, encodes, throttled},
    },
    base::ErrorCode,
    controller::{LoadedPlugins, NewTopic},
};

#[tokio::test]
async fn partitions_are_added_at_every_version() {
    let node = TestNode::start().await;
    let topic = NewTopic {
        name: "t".into(),
        id: fresh_topic_id(),
        partitions: 1,
        replication_factor: 1,
        assignments: Vec::new(),
        configs: Vec::new(),
    };
    let created = node.change().create_topics(&LoadedPlugins::default(), &[topic]).await;
    assert!(created[0].is_ok());
    for (count, version) in (2..).zip(VERSIONS) {
        let topics = ["t", "absent"].map(|it| {
            let name = StrBytes::from_static_str(it).into();
            CreatePartitionsTopic::default()
                .with_name(name)
                .with_count(count)
                .with_assignments(None)
        });
        let request = CreatePartitionsRequest::default().with_topics(topics.into());
        let checked = answer(&node.validating(), &request).await;
        let before = node.quorum.image().topic("t").map(|it| it.partitions.len());
        let response = answer(&node.change(), &request).await;
        encodes(&response, version);
        assert_eq!(checked, response);
        let codes: Vec<_> = response.results.iter().map(|it| it.error_code).collect();
        assert_eq!(codes, [0, ErrorCode::UnknownTopicOrPartition.code()]);
        let after = node.quorum.image().topic("t").map(|it| it.partitions.len());
        assert_eq!((before, after), (Some(count as usize - 1), Some(count as usize)));
    }
}

#[tokio::test]
async fn what_is_not_valid_is_refused_for_what_it_is_and_not_counted() {
    let node = TestNode::start().await;
    let topic = |name: &str| NewTopic {
        name: name.into(),
        id: fresh_topic_id(),
        partitions: 1,
        replication_factor: 1,
        assignments: Vec::new(),
        configs: Vec::new(),
    };
    let topics = ["t", "u"].map(topic);
    node.change().create_topics(&LoadedPlugins::default(), &topics).await;
    let [absent, same, grown] = [("absent", 500), ("t", 1), ("u", 6)].map(|(name, count)| {
        CreatePartitionsTopic::default()
            .with_name(StrBytes::from_static_str(name).into())
            .with_count(count)
            .with_assignments(None)
    });
    let grow = async |context: &Context, topics: &[CreatePartitionsTopic]| {
        let request = CreatePartitionsRequest::default().with_topics(topics.to_vec());
        let response = answer_within_quota(&node.change(), context, request).await;
        encodes(&response, 3);
        response.results.iter().map(|it| it.error_code).collect::<Vec<_>>()
    };
    let unknown = ErrorCode::UnknownTopicOrPartition.code();
    let invalid = ErrorCode::InvalidPartitions.code();
    // A bucket of 1.1 partitions, of which one request may overdraw.
    let context = throttled(3, "controller_mutation_rate", 0.1);
    let asked = [absent.clone(), same, grown.clone()];
    assert_eq!(grow(&context, &asked).await, [unknown, invalid, 0]);
    let asked = [grown.with_count(9), absent];
    let exceeded = ErrorCode::ThrottlingQuotaExceeded.code();
    assert_eq!(grow(&context, &asked).await, [exceeded, unknown]);
}
