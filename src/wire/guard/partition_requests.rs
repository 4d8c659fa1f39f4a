//! The request bodies of the APIs about single partitions and where they lie; as `requests`.

use super::schema::{
    Kind, Message, Struct, array, boolean, int8, int32, int32s, int64, nullable, string,
};

pub(super) static DELETE_RECORDS: Message = Message {
    flexible_since: 2,
    body: Struct {
        fields: &[array("topics", &Kind::Struct(&DELETE_RECORDS_TOPIC)), int32("timeout_ms")],
        tags: &[],
    },
};

static DELETE_RECORDS_TOPIC: Struct = Struct {
    fields: &[string("name"), array("partitions", &Kind::Struct(&DELETE_RECORDS_PARTITION))],
    tags: &[],
};

static DELETE_RECORDS_PARTITION: Struct =
    Struct { fields: &[int32("partition_index"), int64("offset")], tags: &[] };

pub(super) static OFFSET_FOR_LEADER_EPOCH: Message = Message {
    flexible_since: 4,
    body: Struct {
        fields: &[
            int32("replica_id").since(3),
            array("topics", &Kind::Struct(&OFFSET_FOR_LEADER_TOPIC)),
        ],
        tags: &[],
    },
};

static OFFSET_FOR_LEADER_TOPIC: Struct = Struct {
    fields: &[string("topic"), array("partitions", &Kind::Struct(&OFFSET_FOR_LEADER_PARTITION))],
    tags: &[],
};

static OFFSET_FOR_LEADER_PARTITION: Struct = Struct {
    fields: &[int32("partition"), int32("current_leader_epoch"), int32("leader_epoch")],
    tags: &[],
};

pub(super) static OFFSET_DELETE: Message = Message {
    flexible_since: i16::MAX,
    body: Struct {
        fields: &[string("group_id"), array("topics", &Kind::Struct(&OFFSET_DELETE_TOPIC))],
        tags: &[],
    },
};

static OFFSET_DELETE_TOPIC: Struct = Struct {
    fields: &[string("name"), array("partitions", &Kind::Struct(&OFFSET_DELETE_PARTITION))],
    tags: &[],
};

static OFFSET_DELETE_PARTITION: Struct = Struct { fields: &[int32("partition_index")], tags: &[] };

pub(super) static LIST_PARTITION_REASSIGNMENTS: Message = Message {
    flexible_since: 0,
    body: Struct {
        fields: &[int32("timeout_ms"), array("topics", &Kind::Struct(&TOPIC_WITH_PARTITIONS))],
        tags: &[],
    },
};

/// A name and its partitions, whatever Kafka's schemas call them in each message.
static TOPIC_WITH_PARTITIONS: Struct =
    Struct { fields: &[string("name"), int32s("partitions")], tags: &[] };

pub(super) static ALTER_PARTITION_REASSIGNMENTS: Message = Message {
    flexible_since: 0,
    body: Struct {
        fields: &[
            int32("timeout_ms"),
            boolean("allow_replication_factor_change").since(1),
            array("topics", &Kind::Struct(&REASSIGNABLE_TOPIC)),
        ],
        tags: &[],
    },
};

static REASSIGNABLE_TOPIC: Struct = Struct {
    fields: &[string("name"), array("partitions", &Kind::Struct(&REASSIGNABLE_PARTITION))],
    tags: &[],
};

static REASSIGNABLE_PARTITION: Struct =
    Struct { fields: &[int32("partition_index"), int32s("replicas")], tags: &[] };

pub(super) static ELECT_LEADERS: Message = Message {
    flexible_since: 2,
    body: Struct {
        fields: &[
            int8("election_type").since(1),
            array("topic_partitions", &Kind::Struct(&TOPIC_WITH_PARTITIONS)),
            int32("timeout_ms"),
        ],
        tags: &[],
    },
};

pub(super) static ALTER_REPLICA_LOG_DIRS: Message = Message {
    flexible_since: 2,
    body: Struct { fields: &[array("dirs", &Kind::Struct(&ALTER_REPLICA_LOG_DIR))], tags: &[] },
};

static ALTER_REPLICA_LOG_DIR: Struct = Struct {
    fields: &[string("path"), array("topics", &Kind::Struct(&TOPIC_WITH_PARTITIONS))],
    tags: &[],
};

pub(super) static DESCRIBE_LOG_DIRS: Message = Message {
    flexible_since: 2,
    body: Struct { fields: &[array("topics", &Kind::Struct(&TOPIC_WITH_PARTITIONS))], tags: &[] },
};

pub(super) static DESCRIBE_PRODUCERS: Message = Message {
    flexible_since: 0,
    body: Struct { fields: &[array("topics", &Kind::Struct(&TOPIC_WITH_PARTITIONS))], tags: &[] },
};

pub(super) static DESCRIBE_TOPIC_PARTITIONS: Message = Message {
    flexible_since: 0,
    body: Struct {
        fields: &[
            array("topics", &Kind::Struct(&TOPIC_REQUEST)),
            int32("response_partition_limit"),
            nullable("cursor", &CURSOR),
        ],
        tags: &[],
    },
};

static TOPIC_REQUEST: Struct = Struct { fields: &[string("name")], tags: &[] };

static CURSOR: Struct =
    Struct { fields: &[string("topic_name"), int32("partition_index")], tags: &[] };
