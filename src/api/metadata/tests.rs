//! Against a quorum of one.

use super::*;
use crate::{
    api::{
        metadata_change::fresh_topic_id,
        test_node::{TestNode, context, encodes, throttled},
    },
    controller::{LoadedPlugins, NewTopic},
};

async fn node_with(name: &str) -> TestNode {
    let node = TestNode::start().await;
    let topic = NewTopic {
        name: name.into(),
        id: fresh_topic_id(),
        partitions: 3,
        replication_factor: 1,
        assignments: Vec::new(),
        configs: Vec::new(),
    };
    let created = node.change().create_topics(&LoadedPlugins::default(), &[topic]).await;
    assert!(created[0].is_ok());
    node
}

fn named(name: &'static str) -> MetadataRequestTopic {
    MetadataRequestTopic::default().with_name(Some(StrBytes::from_static_str(name).into()))
}

fn request(names: &[&'static str], may_create: bool) -> MetadataRequest {
    MetadataRequest::default()
        .with_topics(Some(names.iter().map(|it| named(it)).collect()))
        .with_allow_auto_topic_creation(may_create)
}

async fn ask(node: &TestNode, version: i16, request: &MetadataRequest) -> MetadataResponse {
    let response = answer(&node.change(), &context(version), request).await;
    encodes(&response, version);
    response
}

fn codes(response: &MetadataResponse) -> Vec<(Option<String>, i16)> {
    let name = |it: &MetadataResponseTopic| it.name.as_ref().map(|it| it.0.to_string());
    response.topics.iter().map(|it| (name(it), it.error_code)).collect()
}

#[tokio::test]
async fn a_topic_is_told_with_its_partitions_at_every_version() {
    let node = node_with("t").await;
    let id = node.quorum.image().topic("t").unwrap().id;
    for version in VERSIONS {
        let asked = request(&["t", "t"], false)
            .with_include_topic_authorized_operations(version >= 8)
            .with_include_cluster_authorized_operations((8..=10).contains(&version));
        let response = ask(&node, version, &asked).await;
        let [topic] = &response.topics[..] else { panic!("{response:?}") };
        assert_eq!(topic.topic_id, if version >= 10 { id.0 } else { Uuid::nil() });
        let partitions: Vec<_> = topic
            .partitions
            .iter()
            .map(|it| (it.error_code, it.partition_index, it.leader_id.0, it.isr_nodes.len()))
            .collect();
        assert_eq!(partitions, [(0, 0, 1, 1), (0, 1, 1, 1), (0, 2, 1, 1)]);
        let broker = &response.brokers[0];
        assert_eq!((&*broker.host, broker.port, response.controller_id.0), ("h", 9092, 1));
        assert_eq!(response.cluster_id.as_ref().map(|it| it.len()), Some(22));
        let operations = topic.topic_authorized_operations;
        assert_eq!(operations, if version >= 8 { 3576 } else { i32::MIN });
    }
}

#[tokio::test]
async fn null_asks_for_all_topics_and_so_does_an_empty_list_at_version_0_alone() {
    let node = node_with("t").await;
    for version in VERSIONS {
        let empty = ask(&node, version, &request(&[], true)).await;
        assert_eq!(empty.topics.len(), usize::from(version == 0), "version {version}");
        if version > 0 {
            let null = ask(&node, version, &request(&[], true).with_topics(None)).await;
            assert_eq!(null.topics.len(), 1, "version {version}");
        }
    }
}

#[tokio::test]
async fn an_unknown_topic_is_created_when_client_and_node_allow_it() {
    let mut node = node_with("t").await;
    let refused = ask(&node, 9, &request(&["new"], false)).await;
    let unknown = ErrorCode::UnknownTopicOrPartition.code();
    assert_eq!(codes(&refused), [(Some("new".into()), unknown)]);

    node.config.node.num_partitions = 4;
    let created = ask(&node, 9, &request(&["new"], true)).await;
    assert_eq!(codes(&created), [(Some("new".into()), 0)]);
    assert_eq!(created.topics[0].partitions.len(), 4);

    node.config.node.auto_create_topics_enable = false;
    let refused = ask(&node, 9, &request(&["newer"], true)).await;
    assert_eq!(codes(&refused), [(Some("newer".into()), unknown)]);
}

#[tokio::test]
async fn topics_above_the_clients_quota_are_not_created() {
    let node = TestNode::start().await;
    let context = throttled(9, "controller_mutation_rate", 0.01);
    let asked = request(&["bad name", "a", "b"], true);
    let response = answer(&node.change(), &context, &asked).await;
    let told: Vec<_> = response.topics.iter().map(|it| it.error_code).collect();
    let want = [ErrorCode::InvalidTopicException, ErrorCode::None, ErrorCode::LeaderNotAvailable];
    assert_eq!(told, want.map(ErrorCode::code));
    assert_eq!(node.quorum.image().topics.len(), 1);
}

#[tokio::test]
async fn names_that_cannot_be_are_told_as_invalid() {
    let node = node_with("a.b").await;
    let invalid = ErrorCode::InvalidTopicException.code();
    for may_create in [false, true] {
        let response = ask(&node, 9, &request(&["bad name"], may_create)).await;
        assert_eq!(codes(&response), [(Some("bad name".into()), invalid)]);
    }
    let collides = ask(&node, 9, &request(&["a_b"], true)).await;
    assert_eq!(codes(&collides), [(Some("a_b".into()), invalid)]);
}

#[tokio::test]
async fn topics_are_found_by_id() {
    let node = node_with("t").await;
    let id = node.quorum.image().topic("t").unwrap().id.0;
    let by = |id: Uuid| MetadataRequestTopic::default().with_name(None).with_topic_id(id);
    let unknown = Uuid::from_u128(7);
    let asked = MetadataRequest::default().with_topics(Some(vec![by(id), by(unknown)]));
    let response = ask(&node, 12, &asked).await;
    let code = ErrorCode::UnknownTopicId.code();
    assert_eq!(codes(&response), [(Some("t".into()), 0), (None, code)]);
    assert_eq!(response.topics[1].topic_id, unknown);

    let early = ask(&node, 11, &asked).await;
    assert!(early.topics.iter().all(|it| it.error_code == ErrorCode::InvalidRequest.code()));
}

#[tokio::test]
async fn a_caller_by_a_listener_that_the_leader_lacks_is_told_so() {
    let node = node_with("t").await;
    for (version, code) in [(5, ErrorCode::LeaderNotAvailable), (6, ErrorCode::ListenerNotFound)] {
        let context = Context { listener: "OTHER".into(), ..context(version) };
        let response = answer(&node.change(), &context, &request(&["t"], false)).await;
        encodes(&response, version);
        assert!(response.brokers.is_empty());
        let told = |it: &MetadataResponsePartition| (it.error_code, it.leader_id.0);
        assert!(response.topics[0].partitions.iter().all(|it| told(it) == (code.code(), -1)));
    }
}

#[tokio::test]
async fn internal_topics_are_created_with_their_own_configs_and_marked() {
    let node = TestNode::start().await;
    let response = ask(&node, 9, &request(&["__consumer_offsets", "__klamm_alerts"], true)).await;
    assert!(response.topics.iter().all(|it| it.is_internal && it.error_code == 0));
    assert_eq!(response.topics[0].partitions.len(), 50);
    let image = node.quorum.image();
    let configs = image.topic_configs(&"__consumer_offsets".into()).unwrap();
    assert_eq!(configs["cleanup.policy"], "compact");
}
