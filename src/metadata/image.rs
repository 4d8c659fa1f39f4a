//! The state of the cluster after some number of metadata records. Immutable once published.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{ConfigResource, MetadataRecord};
use crate::{
    base::{BrokerId, LeaderEpoch, TopicId, TopicName},
    config::{Listener, TopicConfigs},
};

/// All that the metadata log says. Cheap to clone: topics are shared.
#[derive(Clone, Debug, Default)]
pub struct MetadataImage {
    /// Index of the last applied entry; 0 for none.
    pub version: u64,
    /// Base64 of a UUID, as Kafka's; empty before the first record.
    pub cluster_id: Arc<str>,
    pub brokers: BTreeMap<BrokerId, BrokerImage>,
    pub topics: BTreeMap<TopicName, Arc<TopicImage>>,
    pub topic_names: HashMap<TopicId, TopicName>,
    /// Overrides of each resource that has any.
    pub configs: BTreeMap<ConfigResource, Arc<TopicConfigs>>,
    /// The first producer id of no allocated block.
    pub next_producer_id: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerImage {
    pub epoch: i64,
    pub listeners: Vec<Listener>,
    pub rack: Option<String>,
    pub fenced: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicImage {
    pub id: TopicId,
    pub name: TopicName,
    /// By index, without gaps.
    pub partitions: Vec<PartitionImage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionImage {
    /// `None` while no replica can lead.
    pub leader: Option<BrokerId>,
    pub leader_epoch: LeaderEpoch,
    pub partition_epoch: i32,
    /// The preferred leader first.
    pub replicas: Vec<BrokerId>,
    pub isr: Vec<BrokerId>,
}

impl MetadataImage {
    /// The image after one more record.
    pub fn replay(&mut self, record: &MetadataRecord) {
        let _ = record;
        todo!()
    }

    pub fn topic(&self, name: &str) -> Option<&Arc<TopicImage>> {
        self.topics.get(name)
    }

    pub fn topic_by_id(&self, id: TopicId) -> Option<&Arc<TopicImage>> {
        self.topic_names.get(&id).and_then(|name| self.topics.get(name))
    }

    pub fn partition(&self, topic: &str, partition: i32) -> Option<&PartitionImage> {
        let index = usize::try_from(partition).ok()?;
        self.topic(topic)?.partitions.get(index)
    }

    /// Own configs of a topic; `None` for no overrides.
    pub fn topic_configs(&self, topic: &TopicName) -> Option<&Arc<TopicConfigs>> {
        self.configs.get(&ConfigResource::Topic(topic.clone()))
    }
}
