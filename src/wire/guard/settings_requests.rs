//! The bodies of requests about what a node is told and tells of itself: configs, quotas, telemetry, quorum, features; names are
//! those of Kafka's own schemas.

use super::schema::{Kind, Message, Struct, array};

pub(super) static LIST_CONFIG_RESOURCES: Message = Message {
    flexible_since: 0,
    body: Struct { fields: &[array("resource_types", &Kind::Fixed(1)).since(1)], tags: &[] },
};
