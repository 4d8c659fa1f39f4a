//! Against a quorum of one.

use kafka_protocol::{messages::alter_configs_request::AlterableConfig, protocol::StrBytes};

use super::*;
use crate::{
    api::test_node::{TestNode, encodes},
    base::ErrorCode,
};

fn request(name: &'static str, value: Option<&'static str>) -> AlterConfigsRequest {
    let config = AlterableConfig::default()
        .with_name(StrBytes::from_static_str(name))
        .with_value(value.map(StrBytes::from_static_str));
    AlterConfigsRequest::default().with_resources(vec![
        AlterConfigsResource::default()
            .with_resource_type(32)
            .with_resource_name(StrBytes::from_static_str("g"))
            .with_configs(vec![config]),
    ])
}

#[tokio::test]
async fn configs_are_replaced_at_every_version() {
    let node = TestNode::start().await;
    let plugins = LoadedPlugins { assignors: ["sticky".into()].into(), ..Default::default() };
    for version in VERSIONS {
        for (name, value, code) in [
            ("klamm.assignor", Some("sticky"), ErrorCode::None),
            ("klamm.assignor", None, ErrorCode::InvalidRequest),
            ("retention.ms", Some("1"), ErrorCode::InvalidConfig),
        ] {
            let response = answer(&node.change(), &plugins, &request(name, value)).await;
            encodes(&response, version);
            assert_eq!(response.responses[0].error_code, code.code(), "{name} {value:?}");
        }
    }
    let image = node.quorum.image();
    assert_eq!(image.group_configs(&"g".into()).unwrap()["klamm.assignor"], "sticky");
}
