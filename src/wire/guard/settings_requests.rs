//! The bodies of requests about what a node is told and tells of itself: configs, quotas, telemetry, quorum, features; names are
//! those of Kafka's own schemas.

use super::schema::{
    Field, Kind, Message, Struct, array, boolean, bytes, int8, int16, int32, int64, string, uuid,
};

pub(super) static LIST_CONFIG_RESOURCES: Message = Message {
    flexible_since: 0,
    body: Struct { fields: &[array("resource_types", &Kind::Fixed(1)).since(1)], tags: &[] },
};

pub(super) static DESCRIBE_CLIENT_QUOTAS: Message = Message {
    flexible_since: 1,
    body: Struct {
        fields: &[array("components", &Kind::Struct(&QUOTA_FILTER)), boolean("strict")],
        tags: &[],
    },
};

static QUOTA_FILTER: Struct =
    Struct { fields: &[string("entity_type"), int8("match_type"), string("match")], tags: &[] };

pub(super) static ALTER_CLIENT_QUOTAS: Message = Message {
    flexible_since: 1,
    body: Struct {
        fields: &[array("entries", &Kind::Struct(&QUOTA_ENTRY)), boolean("validate_only")],
        tags: &[],
    },
};

static QUOTA_ENTRY: Struct = Struct {
    fields: &[
        array("entity", &Kind::Struct(&QUOTA_ENTITY)),
        array("ops", &Kind::Struct(&QUOTA_OP)),
    ],
    tags: &[],
};

static QUOTA_ENTITY: Struct =
    Struct { fields: &[string("entity_type"), string("entity_name")], tags: &[] };

static QUOTA_OP: Struct =
    Struct { fields: &[string("key"), float64("value"), boolean("remove")], tags: &[] };

const fn float64(name: &'static str) -> Field {
    int64(name)
}

pub(super) static GET_TELEMETRY_SUBSCRIPTIONS: Message = Message {
    flexible_since: 0,
    body: Struct { fields: &[uuid("client_instance_id")], tags: &[] },
};

pub(super) static PUSH_TELEMETRY: Message = Message {
    flexible_since: 0,
    body: Struct {
        fields: &[
            uuid("client_instance_id"),
            int32("subscription_id"),
            boolean("terminating"),
            int8("compression_type"),
            bytes("metrics"),
        ],
        tags: &[],
    },
};

pub(super) static DESCRIBE_QUORUM: Message = Message {
    flexible_since: 0,
    body: Struct { fields: &[array("topics", &Kind::Struct(&QUORUM_TOPIC))], tags: &[] },
};

static QUORUM_TOPIC: Struct = Struct {
    fields: &[string("topic_name"), array("partitions", &Kind::Struct(&QUORUM_PARTITION))],
    tags: &[],
};

static QUORUM_PARTITION: Struct = Struct { fields: &[int32("partition_index")], tags: &[] };

pub(super) static UPDATE_FEATURES: Message = Message {
    flexible_since: 0,
    body: Struct {
        fields: &[
            int32("timeout_ms"),
            array("feature_updates", &Kind::Struct(&FEATURE_UPDATE)),
            boolean("validate_only").since(1),
        ],
        tags: &[],
    },
};

static FEATURE_UPDATE: Struct = Struct {
    fields: &[
        string("feature"),
        int16("max_version_level"),
        boolean("allow_downgrade").until(0),
        int8("upgrade_type").since(1),
    ],
    tags: &[],
};
