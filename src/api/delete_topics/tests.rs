//! Against a quorum of one.

use kafka_protocol::messages::delete_topics_request::DeleteTopicState;

use super::*;
use crate::{
    api::{
        metadata_change::fresh_topic_id,
        test_node::{TestNode, encodes, throttled},
    },
    controller::{LoadedPlugins, NewTopic},
};

fn name(name: &str) -> kafka_protocol::messages::TopicName {
    StrBytes::from_string(name.into()).into()
}

async fn create(node: &TestNode, name: &str) -> TopicId {
    let topic = NewTopic {
        name: name.into(),
        id: fresh_topic_id(),
        partitions: 1,
        replication_factor: 1,
        assignments: Vec::new(),
        configs: Vec::new(),
    };
    let results = node.change().create_topics(&LoadedPlugins::default(), &[topic]).await;
    results[0].as_ref().unwrap().id
}

fn by(name_: Option<&str>, id: Option<TopicId>) -> DeleteTopicState {
    DeleteTopicState::default()
        .with_name(name_.map(name))
        .with_topic_id(id.map_or(Uuid::nil(), |it| it.0))
}

#[tokio::test]
async fn topics_are_deleted_by_name_at_every_version() {
    let node = TestNode::start().await;
    for version in VERSIONS {
        create(&node, "t").await;
        let names = ["t", "absent", "twice", "twice"].map(name).to_vec();
        let request = DeleteTopicsRequest::default().with_topic_names(names);
        let response = answer(&node.change(), version, &request).await;
        encodes(&response, version);
        let codes: Vec<_> = response.responses.iter().map(|it| it.error_code).collect();
        let want = [
            ErrorCode::None,
            ErrorCode::UnknownTopicOrPartition,
            ErrorCode::InvalidRequest,
            ErrorCode::InvalidRequest,
        ];
        assert_eq!(codes, want.map(ErrorCode::code), "version {version}");
        assert!(node.quorum.image().topic("t").is_none());
    }
}

#[tokio::test]
async fn topics_are_deleted_by_id_and_bad_ways_to_name_one_are_refused() {
    let node = TestNode::start().await;
    let (a, b) = (create(&node, "a").await, create(&node, "b").await);
    let unknown = fresh_topic_id();
    let topics = vec![
        by(None, Some(a)),
        by(None, Some(unknown)),
        by(None, None),
        by(Some("b"), Some(b)),
        by(Some("b"), None),
        by(None, Some(b)),
    ];
    let request = DeleteTopicsRequest::default().with_topics(topics);
    let response = answer(&node.change(), 6, &request).await;
    encodes(&response, 6);
    let codes: Vec<_> = response.responses.iter().map(|it| it.error_code).collect();
    let invalid = ErrorCode::InvalidRequest.code();
    assert_eq!(codes, [0, ErrorCode::UnknownTopicId.code(), invalid, invalid, invalid, invalid]);
    assert_eq!(response.responses[0].name, Some(name("a")));
    assert!(node.quorum.image().topic("b").is_some());
}

#[tokio::test]
async fn deletion_can_be_disabled() {
    let mut node = TestNode::start().await;
    create(&node, "t").await;
    node.config.node.delete_topic_enable = false;
    for (version, code) in [(2, ErrorCode::InvalidRequest), (3, ErrorCode::TopicDeletionDisabled)] {
        let request = DeleteTopicsRequest::default().with_topic_names(vec![name("t")]);
        let response = answer(&node.change(), version, &request).await;
        assert_eq!(response.responses[0].error_code, code.code());
    }
    assert!(node.quorum.image().topic("t").is_some());
}

#[tokio::test]
async fn a_quota_counts_what_is_deleted_and_not_what_cannot_be() {
    let mut node = TestNode::start().await;
    for topic in ["a", "b", "c"] {
        create(&node, topic).await;
    }
    // A bucket of 0.11 partitions, of which one request may overdraw.
    let context = throttled(6, "controller_mutation_rate", 0.01);
    let delete = async |node: &TestNode, names: &[&str]| {
        let topics = names.iter().map(|it| by(Some(it), None)).collect();
        let request = DeleteTopicsRequest::default().with_topics(topics);
        let response = answer_within_quota(&node.change(), &context, request).await;
        encodes(&response, 6);
        response.responses.iter().map(|it| it.error_code).collect::<Vec<_>>()
    };
    node.config.node.delete_topic_enable = false;
    assert_eq!(delete(&node, &["a"]).await, [ErrorCode::TopicDeletionDisabled.code()]);
    node.config.node.delete_topic_enable = true;
    let unknown = ErrorCode::UnknownTopicOrPartition.code();
    let exceeded = ErrorCode::ThrottlingQuotaExceeded.code();
    assert_eq!(delete(&node, &["absent", "a", "b", "gone"]).await, [unknown, 0, exceeded, unknown]);
    assert!(node.quorum.image().topic("a").is_none());
    assert!(node.quorum.image().topic("b").is_some());
}
