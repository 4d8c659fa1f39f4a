//! Against a quorum of one.

use kafka_protocol::protocol::StrBytes;

use super::*;
use crate::{
    api::test_node::{TestNode, encodes},
    base::ErrorCode,
};

fn resource(
    kind: i8,
    name: &'static str,
    configs: &[(&'static str, i8, Option<&'static str>)],
) -> AlterConfigsResource {
    let configs = configs.iter().map(|&(name, op, value)| {
        AlterableConfig::default()
            .with_name(StrBytes::from_static_str(name))
            .with_config_operation(op)
            .with_value(value.map(StrBytes::from_static_str))
    });
    AlterConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(StrBytes::from_static_str(name))
        .with_configs(configs.collect())
}

#[tokio::test]
async fn each_resource_has_its_own_answer_in_the_order_of_the_request() {
    let node = TestNode::start().await;
    let plugins = LoadedPlugins { assignors: ["sticky".into()].into(), ..Default::default() };
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![
        resource(8, "1", &[]),
        resource(32, "g", &[("klamm.assignor", 0, Some("sticky"))]),
        resource(2, "absent", &[]),
        resource(4, "1", &[("log.retention.ms", 0, Some("1"))]),
        resource(4, "2", &[("log.retention.ms", 0, Some("1"))]),
        resource(4, "", &[("node.id", 0, Some("1"))]),
        resource(16, "s", &[("metrics", 2, Some("a"))]),
        resource(32, "h", &[("klamm.assignor", 0, None)]),
        resource(32, "i", &[("klamm.assignor", 9, None)]),
        resource(32, "j", &[("klamm.assignor", 1, None), ("klamm.assignor", 1, None)]),
        resource(32, "k", &[("klamm.assignor", 0, Some("nobody"))]),
    ]);
    for version in VERSIONS {
        let response = answer(&node.change(), &plugins, &request).await;
        encodes(&response, version);
        let codes: Vec<_> = response.responses.iter().map(|it| it.error_code).collect();
        let invalid = ErrorCode::InvalidRequest;
        let want = [
            invalid,
            ErrorCode::None,
            ErrorCode::UnknownTopicOrPartition,
            ErrorCode::None,
            invalid,
            invalid,
            ErrorCode::None,
            invalid,
            invalid,
            invalid,
            ErrorCode::InvalidConfig,
        ];
        assert_eq!(codes, want.map(ErrorCode::code));
    }
    let image = node.quorum.image();
    assert_eq!(image.group_configs(&"g".into()).unwrap()["klamm.assignor"], "sticky");
    assert_eq!(image.configs.len(), 3);
}
