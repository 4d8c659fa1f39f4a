//! Small requests of the consumer protocol (KIP-848); as `samples`.

use bytes::BytesMut;
use kafka_protocol::{
    messages::{
        ApiKey, ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest,
        consumer_group_heartbeat_request::TopicPartitions,
    },
    protocol::StrBytes,
};
use uuid::Uuid;

use super::samples::{encoded, group, topic};

/// The body of a request, valid in its version; `None` for another API.
pub(super) fn group_sample(key: ApiKey, version: i16) -> Option<BytesMut> {
    Some(match key {
        ApiKey::ConsumerGroupHeartbeat => encoded(version, &heartbeat(version)),
        ApiKey::ConsumerGroupDescribe => {
            encoded(version, &ConsumerGroupDescribeRequest::default().with_group_ids(vec![group()]))
        }
        _ => return None,
    })
}

/// Of a member that no group has, with every field told.
fn heartbeat(version: i16) -> ConsumerGroupHeartbeatRequest {
    let text = StrBytes::from_static_str;
    let owned =
        TopicPartitions::default().with_topic_id(Uuid::from_u128(1)).with_partitions(vec![0]);
    let request = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(group())
        .with_member_id(text("hostile"))
        .with_member_epoch(1)
        .with_instance_id(Some(text("hostile")))
        .with_rack_id(Some(text("hostile")))
        .with_rebalance_timeout_ms(1)
        .with_subscribed_topic_names(Some(vec![topic()]))
        .with_server_assignor(Some(text("uniform")))
        .with_topic_partitions(Some(vec![owned]));
    if version == 0 {
        return request;
    }
    request.with_subscribed_topic_regex(Some(text("hostile.*")))
}
