//! What the metadata log holds. The order of variants is persisted: new ones come last.

use serde::{Deserialize, Serialize};

use super::{QuotaEntity, QuotaValue};
use crate::base::{BrokerId, GroupId, LeaderEpoch, TopicId, TopicName};

/// What configs can be set of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ConfigResource {
    Topic(TopicName),
    /// `None`: the default of all brokers.
    Broker(Option<BrokerId>),
    Group(GroupId),
    /// A subscription to metrics that clients push (KIP-714), by its name.
    ClientMetrics(String),
}

/// One change of the cluster's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MetadataRecord {
    /// The first record of a cluster's life.
    Cluster {
        cluster_id: String,
    },
    /// A broker has started; its epoch is that of this session.
    RegisterBroker {
        broker_id: BrokerId,
        epoch: i64,
        /// Name, host, port.
        listeners: Vec<(String, String, u16)>,
        rack: Option<String>,
    },
    FenceBroker {
        broker_id: BrokerId,
        fenced: bool,
    },
    Topic {
        topic_id: TopicId,
        name: TopicName,
    },
    /// The whole state of a partition: new, or after a change of leader or ISR.
    Partition {
        topic_id: TopicId,
        partition: i32,
        leader: Option<BrokerId>,
        leader_epoch: LeaderEpoch,
        partition_epoch: i32,
        replicas: Vec<BrokerId>,
        isr: Vec<BrokerId>,
    },
    /// Removes the topic, its partitions and its configs.
    RemoveTopic {
        topic_id: TopicId,
    },
    /// `None` removes the override.
    Config {
        resource: ConfigResource,
        name: String,
        value: Option<String>,
    },
    /// Producer ids below this one are allocated.
    ProducerIds {
        next_producer_id: i64,
    },
    /// `None` removes the quota.
    ClientQuota {
        entity: QuotaEntity,
        key: String,
        value: Option<QuotaValue>,
    },
    /// The finalized version of a feature (KIP-584).
    FeatureLevel {
        name: String,
        level: i16,
    },
}
