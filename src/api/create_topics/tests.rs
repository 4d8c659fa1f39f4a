//! Against a quorum of one.

use kafka_protocol::messages::create_topics_request::CreatableTopicConfig;

use super::*;
use crate::{
    api::test_node::{TestNode, encodes, throttled},
    base::ErrorCode,
};

fn request(names: &[&'static str]) -> CreateTopicsRequest {
    let topics = names.iter().map(|it| {
        CreatableTopic::default()
            .with_name(StrBytes::from_static_str(it).into())
            .with_num_partitions(2)
            .with_replication_factor(-1)
            .with_configs(vec![
                CreatableTopicConfig::default()
                    .with_name(StrBytes::from_static_str("retention.ms"))
                    .with_value(Some(StrBytes::from_static_str("5"))),
            ])
    });
    CreateTopicsRequest::default().with_topics(topics.collect())
}

#[tokio::test]
async fn topics_are_created_and_told_at_every_version() {
    let node = TestNode::start().await;
    for version in VERSIONS {
        let name = format!("t{version}");
        let request = request(&[&*name.leak(), "bad name"]);
        let response = answer(&node.change(), &LoadedPlugins::default(), version, &request).await;
        encodes(&response, version);
        let [good, bad] = &response.topics[..] else { panic!("{response:?}") };
        assert_eq!((good.error_code, &good.error_message), (0, &None));
        assert_eq!(bad.error_code, ErrorCode::InvalidTopicException.code());
        assert_eq!(good.num_partitions, if version >= 5 { 2 } else { -1 });
        assert_eq!(!good.topic_id.is_nil(), version >= 7);
        let configs = good.configs.as_deref().unwrap_or_default();
        let retention = configs.iter().find(|it| &*it.name == "retention.ms");
        let source = retention.map(|it| (it.value.as_deref(), it.config_source));
        assert_eq!(source, (version >= 5).then_some((Some("5"), 1)));
    }
}

#[tokio::test]
async fn a_check_alone_creates_nothing() {
    let node = TestNode::start().await;
    let plugins = LoadedPlugins::default();
    let response = answer(&node.validating(), &plugins, 7, &request(&["t"])).await;
    assert_eq!(response.topics[0].error_code, 0);
    assert!(node.quorum.image().topics.is_empty());
}

#[tokio::test]
async fn a_topic_that_cannot_be_produced_to_in_time_is_told_as_timed_out() {
    let node = TestNode::publishing(0).await;
    let plugins = LoadedPlugins::default();
    let response = answer(&node.change(), &plugins, 7, &request(&["t", "bad name"])).await;
    let codes: Vec<_> = response.topics.iter().map(|it| it.error_code).collect();
    let want = [ErrorCode::RequestTimedOut, ErrorCode::InvalidTopicException];
    assert_eq!(codes, want.map(ErrorCode::code));
    assert!(node.quorum.image().topic("t").is_some());
}

#[tokio::test]
async fn a_quota_that_is_used_up_refuses_the_rest_where_the_version_knows_and_holds_back_where_not()
{
    let node = TestNode::start().await;
    let plugins = LoadedPlugins::default();
    let create = |version, names: &[&'static str]| {
        let context = throttled(version, "controller_mutation_rate", 0.1);
        let request = request(names);
        let (change, plugins) = (node.change(), &plugins);
        async move { answer_within_quota(&change, plugins, &context, request).await }
    };
    // A bucket of 1.1 partitions; each topic has two.
    let response = create(7, &["a", "b"]).await;
    encodes(&response, 7);
    let codes: Vec<_> = response.topics.iter().map(|it| (&*it.name.0, it.error_code)).collect();
    assert_eq!(codes, [("a", 0), ("b", ErrorCode::ThrottlingQuotaExceeded.code())]);
    assert!(response.throttle_time_ms > 0);
    assert!(node.quorum.image().topic("b").is_none());
    let response = create(5, &["c", "d"]).await;
    assert_eq!(response.topics.iter().map(|it| it.error_code).sum::<i16>(), 0);
    assert!(response.throttle_time_ms > 0);
    // What is not made costs nothing.
    let response = create(7, &["bad name"]).await;
    assert_eq!(response.throttle_time_ms, 0);
}

#[tokio::test]
async fn what_is_refused_for_another_reason_leaves_the_quota_to_the_rest_in_the_order_of_the_request()
 {
    let node = TestNode::start().await;
    let plugins = LoadedPlugins::default();
    answer(&node.change(), &plugins, 7, &request(&["there"])).await;
    let context = throttled(7, "controller_mutation_rate", 0.1);
    let create = async |validate_only, names: &[&'static str]| {
        let request = request(names).with_validate_only(validate_only);
        let response = answer_within_quota(&node.change(), &plugins, &context, request).await;
        response.topics.iter().map(|it| it.error_code).collect::<Vec<_>>()
    };
    let exists = ErrorCode::TopicAlreadyExists.code();
    let exceeded = ErrorCode::ThrottlingQuotaExceeded.code();
    assert_eq!(
        create(false, &["there", "bad name", "a", "b", "there2"]).await,
        [exists, ErrorCode::InvalidTopicException.code(), 0, exceeded, exceeded]
    );
    // Also what would be made: Kafka's controller counts it too.
    assert_eq!(create(true, &["there", "c"]).await, [exists, exceeded]);
}
