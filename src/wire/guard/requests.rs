//! The request bodies that Klamm serves, one table a message; names are those of Kafka's own schemas.
//!
//! `guard::tests` holds them against the encoder of `kafka_protocol`: each table must consume exactly what that writes.

use super::schema::{
    Kind, Message, Struct, array, boolean, bytes, int8, int16, int32, int32s, int64, nested,
    string, strings, uuid,
};

pub(super) static PRODUCE: Message = Message {
    flexible_since: 9,
    body: Struct {
        fields: &[
            string("transactional_id"),
            int16("acks"),
            int32("timeout_ms"),
            array("topic_data", &Kind::Struct(&TOPIC_PRODUCE_DATA)),
        ],
        tags: &[],
    },
};

static PARTITION_PRODUCE_DATA: Struct =
    Struct { fields: &[int32("index"), bytes("records")], tags: &[] };

static TOPIC_PRODUCE_DATA: Struct = Struct {
    fields: &[
        string("name").until(12),
        uuid("topic_id").since(13),
        array("partition_data", &Kind::Struct(&PARTITION_PRODUCE_DATA)),
    ],
    tags: &[],
};

pub(super) static FETCH: Message = Message {
    flexible_since: 12,
    body: Struct {
        fields: &[
            int32("replica_id").until(14),
            int32("max_wait_ms"),
            int32("min_bytes"),
            int32("max_bytes"),
            int8("isolation_level"),
            int32("session_id").since(7),
            int32("session_epoch").since(7),
            array("topics", &Kind::Struct(&FETCH_TOPIC)),
            array("forgotten_topics_data", &Kind::Struct(&FORGOTTEN_TOPIC)).since(7),
            string("rack_id").since(11),
        ],
        tags: &[(0, string("cluster_id")), (1, nested("replica_state", &REPLICA_STATE).since(15))],
    },
};

static FETCH_PARTITION: Struct = Struct {
    fields: &[
        int32("partition"),
        int32("current_leader_epoch").since(9),
        int64("fetch_offset"),
        int32("last_fetched_epoch").since(12),
        int64("log_start_offset").since(5),
        int32("partition_max_bytes"),
    ],
    tags: &[(0, uuid("replica_directory_id").since(17)), (1, int64("high_watermark").since(18))],
};

static FETCH_TOPIC: Struct = Struct {
    fields: &[
        string("topic").until(12),
        uuid("topic_id").since(13),
        array("partitions", &Kind::Struct(&FETCH_PARTITION)),
    ],
    tags: &[],
};

static FORGOTTEN_TOPIC: Struct = Struct {
    fields: &[
        string("topic").since(7).until(12),
        uuid("topic_id").since(13),
        int32s("partitions").since(7),
    ],
    tags: &[],
};

static REPLICA_STATE: Struct = Struct {
    fields: &[int32("replica_id").since(15), int64("replica_epoch").since(15)],
    tags: &[],
};

pub(super) static LIST_OFFSETS: Message = Message {
    flexible_since: 6,
    body: Struct {
        fields: &[
            int32("replica_id"),
            int8("isolation_level").since(2),
            array("topics", &Kind::Struct(&LIST_OFFSETS_TOPIC)),
            int32("timeout_ms").since(10),
        ],
        tags: &[],
    },
};

static LIST_OFFSETS_PARTITION: Struct = Struct {
    fields: &[int32("partition_index"), int32("current_leader_epoch").since(4), int64("timestamp")],
    tags: &[],
};

static LIST_OFFSETS_TOPIC: Struct = Struct {
    fields: &[string("name"), array("partitions", &Kind::Struct(&LIST_OFFSETS_PARTITION))],
    tags: &[],
};

pub(super) static METADATA: Message = Message {
    flexible_since: 9,
    body: Struct {
        fields: &[
            array("topics", &Kind::Struct(&METADATA_TOPIC)),
            boolean("allow_auto_topic_creation").since(4),
            boolean("include_cluster_authorized_operations").since(8).until(10),
            boolean("include_topic_authorized_operations").since(8),
        ],
        tags: &[],
    },
};

static METADATA_TOPIC: Struct =
    Struct { fields: &[uuid("topic_id").since(10), string("name")], tags: &[] };

pub(super) static FIND_COORDINATOR: Message = Message {
    flexible_since: 3,
    body: Struct {
        fields: &[
            string("key").until(3),
            int8("key_type").since(1),
            strings("coordinator_keys").since(4),
        ],
        tags: &[],
    },
};

pub(super) static API_VERSIONS: Message = Message {
    flexible_since: 3,
    body: Struct {
        fields: &[
            string("client_software_name").since(3),
            string("client_software_version").since(3),
        ],
        tags: &[],
    },
};

pub(super) static CREATE_TOPICS: Message = Message {
    flexible_since: 5,
    body: Struct {
        fields: &[
            array("topics", &Kind::Struct(&CREATABLE_TOPIC)),
            int32("timeout_ms"),
            boolean("validate_only"),
        ],
        tags: &[],
    },
};

static CREATABLE_REPLICA_ASSIGNMENT: Struct =
    Struct { fields: &[int32("partition_index"), int32s("broker_ids")], tags: &[] };

static CREATABLE_TOPIC: Struct = Struct {
    fields: &[
        string("name"),
        int32("num_partitions"),
        int16("replication_factor"),
        array("assignments", &Kind::Struct(&CREATABLE_REPLICA_ASSIGNMENT)),
        array("configs", &Kind::Struct(&CREATABLE_TOPIC_CONFIG)),
    ],
    tags: &[],
};

static CREATABLE_TOPIC_CONFIG: Struct =
    Struct { fields: &[string("name"), string("value")], tags: &[] };

pub(super) static DELETE_TOPICS: Message = Message {
    flexible_since: 4,
    body: Struct {
        fields: &[
            array("topics", &Kind::Struct(&DELETE_TOPIC_STATE)).since(6),
            strings("topic_names").until(5),
            int32("timeout_ms"),
        ],
        tags: &[],
    },
};

static DELETE_TOPIC_STATE: Struct =
    Struct { fields: &[string("name").since(6), uuid("topic_id").since(6)], tags: &[] };

pub(super) static INIT_PRODUCER_ID: Message = Message {
    flexible_since: 2,
    body: Struct {
        fields: &[
            string("transactional_id"),
            int32("transaction_timeout_ms"),
            int64("producer_id").since(3),
            int16("producer_epoch").since(3),
        ],
        tags: &[],
    },
};

pub(super) static DESCRIBE_CONFIGS: Message = Message {
    flexible_since: 4,
    body: Struct {
        fields: &[
            array("resources", &Kind::Struct(&DESCRIBE_CONFIGS_RESOURCE)),
            boolean("include_synonyms"),
            boolean("include_documentation").since(3),
        ],
        tags: &[],
    },
};

static DESCRIBE_CONFIGS_RESOURCE: Struct = Struct {
    fields: &[int8("resource_type"), string("resource_name"), strings("configuration_keys")],
    tags: &[],
};

pub(super) static ALTER_CONFIGS: Message = Message {
    flexible_since: 2,
    body: Struct {
        fields: &[
            array("resources", &Kind::Struct(&ALTER_CONFIGS_RESOURCE)),
            boolean("validate_only"),
        ],
        tags: &[],
    },
};

static ALTER_CONFIGS_RESOURCE: Struct = Struct {
    fields: &[
        int8("resource_type"),
        string("resource_name"),
        array("configs", &Kind::Struct(&ALTERABLE_CONFIG)),
    ],
    tags: &[],
};

static ALTERABLE_CONFIG: Struct = Struct { fields: &[string("name"), string("value")], tags: &[] };

pub(super) static CREATE_PARTITIONS: Message = Message {
    flexible_since: 2,
    body: Struct {
        fields: &[
            array("topics", &Kind::Struct(&CREATE_PARTITIONS_TOPIC)),
            int32("timeout_ms"),
            boolean("validate_only"),
        ],
        tags: &[],
    },
};

static CREATE_PARTITIONS_ASSIGNMENT: Struct = Struct { fields: &[int32s("broker_ids")], tags: &[] };

static CREATE_PARTITIONS_TOPIC: Struct = Struct {
    fields: &[
        string("name"),
        int32("count"),
        array("assignments", &Kind::Struct(&CREATE_PARTITIONS_ASSIGNMENT)),
    ],
    tags: &[],
};

pub(super) static INCREMENTAL_ALTER_CONFIGS: Message = Message {
    flexible_since: 1,
    body: Struct {
        fields: &[
            array("resources", &Kind::Struct(&INCREMENTAL_ALTER_CONFIGS_RESOURCE)),
            boolean("validate_only"),
        ],
        tags: &[],
    },
};

static INCREMENTAL_ALTER_CONFIGS_RESOURCE: Struct = Struct {
    fields: &[
        int8("resource_type"),
        string("resource_name"),
        array("configs", &Kind::Struct(&INCREMENTAL_ALTERABLE_CONFIG)),
    ],
    tags: &[],
};

static INCREMENTAL_ALTERABLE_CONFIG: Struct =
    Struct { fields: &[string("name"), int8("config_operation"), string("value")], tags: &[] };

pub(super) static DESCRIBE_CLUSTER: Message = Message {
    flexible_since: 0,
    body: Struct {
        fields: &[
            boolean("include_cluster_authorized_operations"),
            int8("endpoint_type").since(1),
            boolean("include_fenced_brokers").since(2),
        ],
        tags: &[],
    },
};
