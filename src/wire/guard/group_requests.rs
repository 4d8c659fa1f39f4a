//! The bodies of requests of the consumer protocol (KIP-848); names are those of Kafka's own schemas.

use super::schema::{Kind, Message, Struct, array, boolean, int32, int32s, string, strings, uuid};

pub(super) static CONSUMER_GROUP_HEARTBEAT: Message = Message {
    flexible_since: 0,
    body: Struct {
        fields: &[
            string("group_id"),
            string("member_id"),
            int32("member_epoch"),
            string("instance_id"),
            string("rack_id"),
            int32("rebalance_timeout_ms"),
            strings("subscribed_topic_names"),
            string("subscribed_topic_regex").since(1),
            string("server_assignor"),
            array("topic_partitions", &Kind::Struct(&OWNED_PARTITIONS)),
        ],
        tags: &[],
    },
};

static OWNED_PARTITIONS: Struct =
    Struct { fields: &[uuid("topic_id"), int32s("partitions")], tags: &[] };

pub(super) static CONSUMER_GROUP_DESCRIBE: Message = Message {
    flexible_since: 0,
    body: Struct {
        fields: &[strings("group_ids"), boolean("include_authorized_operations")],
        tags: &[],
    },
};
