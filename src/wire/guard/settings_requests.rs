//! The bodies of requests about what a node is told and tells of itself: configs, quotas, telemetry, quorum, features; names are
//! those of Kafka's own schemas.

use super::schema::{Field, Kind, Message, Struct, array, boolean, int8, int64, string};

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
