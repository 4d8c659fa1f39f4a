//! The bodies of requests of groups, of both protocols, and of their offsets; names are those of Kafka's own schemas.

use super::schema::{
    Kind, Message, Struct, array, boolean, bytes, int32, int32s, int64, string, strings, uuid,
};

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

pub(super) static OFFSET_COMMIT: Message = Message {
    flexible_since: 8,
    body: Struct {
        fields: &[
            string("group_id"),
            int32("generation_id_or_member_epoch"),
            string("member_id"),
            string("group_instance_id").since(7),
            int64("retention_time_ms").until(4),
            array("topics", &Kind::Struct(&OFFSET_COMMIT_TOPIC)),
        ],
        tags: &[],
    },
};

static OFFSET_COMMIT_PARTITION: Struct = Struct {
    fields: &[
        int32("partition_index"),
        int64("committed_offset"),
        int32("committed_leader_epoch").since(6),
        string("committed_metadata"),
    ],
    tags: &[],
};

static OFFSET_COMMIT_TOPIC: Struct = Struct {
    fields: &[string("name"), array("partitions", &Kind::Struct(&OFFSET_COMMIT_PARTITION))],
    tags: &[],
};

pub(super) static OFFSET_FETCH: Message = Message {
    flexible_since: 6,
    body: Struct {
        fields: &[
            string("group_id").until(7),
            array("topics", &Kind::Struct(&OFFSET_FETCH_TOPIC)).until(7),
            array("groups", &Kind::Struct(&OFFSET_FETCH_GROUP)).since(8),
            boolean("require_stable").since(7),
        ],
        tags: &[],
    },
};

static OFFSET_FETCH_GROUP: Struct = Struct {
    fields: &[
        string("group_id").since(8),
        string("member_id").since(9),
        int32("member_epoch").since(9),
        array("topics", &Kind::Struct(&OFFSET_FETCH_TOPICS)).since(8),
    ],
    tags: &[],
};

static OFFSET_FETCH_TOPIC: Struct =
    Struct { fields: &[string("name").until(7), int32s("partition_indexes").until(7)], tags: &[] };

static OFFSET_FETCH_TOPICS: Struct =
    Struct { fields: &[string("name").since(8), int32s("partition_indexes").since(8)], tags: &[] };

pub(super) static JOIN_GROUP: Message = Message {
    flexible_since: 6,
    body: Struct {
        fields: &[
            string("group_id"),
            int32("session_timeout_ms"),
            int32("rebalance_timeout_ms").since(1),
            string("member_id"),
            string("group_instance_id").since(5),
            string("protocol_type"),
            array("protocols", &Kind::Struct(&JOIN_GROUP_PROTOCOL)),
            string("reason").since(8),
        ],
        tags: &[],
    },
};

static JOIN_GROUP_PROTOCOL: Struct =
    Struct { fields: &[string("name"), bytes("metadata")], tags: &[] };

pub(super) static HEARTBEAT: Message = Message {
    flexible_since: 4,
    body: Struct {
        fields: &[
            string("group_id"),
            int32("generation_id"),
            string("member_id"),
            string("group_instance_id").since(3),
        ],
        tags: &[],
    },
};

pub(super) static LEAVE_GROUP: Message = Message {
    flexible_since: 4,
    body: Struct {
        fields: &[
            string("group_id"),
            string("member_id").until(2),
            array("members", &Kind::Struct(&MEMBER_IDENTITY)).since(3),
        ],
        tags: &[],
    },
};

static MEMBER_IDENTITY: Struct = Struct {
    fields: &[
        string("member_id").since(3),
        string("group_instance_id").since(3),
        string("reason").since(5),
    ],
    tags: &[],
};

pub(super) static SYNC_GROUP: Message = Message {
    flexible_since: 4,
    body: Struct {
        fields: &[
            string("group_id"),
            int32("generation_id"),
            string("member_id"),
            string("group_instance_id").since(3),
            string("protocol_type").since(5),
            string("protocol_name").since(5),
            array("assignments", &Kind::Struct(&SYNC_GROUP_ASSIGNMENT)),
        ],
        tags: &[],
    },
};

static SYNC_GROUP_ASSIGNMENT: Struct =
    Struct { fields: &[string("member_id"), bytes("assignment")], tags: &[] };

pub(super) static DESCRIBE_GROUPS: Message = Message {
    flexible_since: 5,
    body: Struct {
        fields: &[strings("groups"), boolean("include_authorized_operations").since(3)],
        tags: &[],
    },
};

pub(super) static LIST_GROUPS: Message = Message {
    flexible_since: 3,
    body: Struct {
        fields: &[strings("states_filter").since(4), strings("types_filter").since(5)],
        tags: &[],
    },
};

pub(super) static DELETE_GROUPS: Message =
    Message { flexible_since: 2, body: Struct { fields: &[strings("groups_names")], tags: &[] } };
