//! The state of the cluster after some number of metadata records. Immutable once published.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{
    ClientQuotasImage, ConfigResource, FeatureLevels, MetadataRecord, QuotaEntity, QuotaValue,
};
use crate::{
    base::{BrokerId, GroupId, LeaderEpoch, TopicId, TopicName},
    config::{Alterations, Listener, TopicConfigs},
};

/// All that the metadata log says. Cheap to clone: topics are shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    pub client_quotas: Arc<ClientQuotasImage>,
    pub features: FeatureLevels,
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
    /// The image after one more record. `version` is the caller's: an entry of the log may hold many records.
    pub fn replay(&mut self, record: &MetadataRecord) {
        match record {
            MetadataRecord::Cluster { cluster_id } => self.cluster_id = cluster_id.as_str().into(),
            MetadataRecord::RegisterBroker { broker_id, epoch, listeners, rack } => {
                let broker = BrokerImage {
                    epoch: *epoch,
                    listeners: listeners.iter().map(listener).collect(),
                    rack: rack.clone(),
                    fenced: false,
                };
                self.brokers.insert(*broker_id, broker);
            }
            MetadataRecord::FenceBroker { broker_id, fenced } => {
                if let Some(broker) = self.brokers.get_mut(broker_id) {
                    broker.fenced = *fenced;
                }
            }
            MetadataRecord::Topic { topic_id, name } => self.replay_topic(*topic_id, name),
            MetadataRecord::Partition { topic_id, partition, .. } => {
                self.replay_partition(*topic_id, *partition, PartitionImage::from_record(record));
            }
            MetadataRecord::RemoveTopic { topic_id } => self.replay_remove_topic(*topic_id),
            MetadataRecord::Config { resource, name, value } => {
                self.replay_config(resource, name, value.as_deref());
            }
            MetadataRecord::ProducerIds { next_producer_id } => {
                self.next_producer_id = *next_producer_id;
            }
            MetadataRecord::ClientQuota { entity, key, value } => {
                self.replay_client_quota(entity, key, *value);
            }
            MetadataRecord::FeatureLevel { name, level } => self.features.set(name, *level),
        }
    }

    /// The image after the records of a decision or a snapshot.
    pub fn replay_all(&mut self, records: &[MetadataRecord]) {
        for record in records {
            self.replay(record);
        }
    }

    fn replay_topic(&mut self, id: TopicId, name: &TopicName) {
        let topic = TopicImage { id, name: name.clone(), partitions: Vec::new() };
        self.topics.insert(name.clone(), Arc::new(topic));
        self.topic_names.insert(id, name.clone());
    }

    fn replay_partition(&mut self, id: TopicId, index: i32, image: Option<PartitionImage>) {
        let Some(topic) = self.topic_names.get(&id).and_then(|name| self.topics.get_mut(name))
        else {
            return;
        };
        let (Ok(index), Some(image)) = (usize::try_from(index), image) else { return };
        let partitions = &mut Arc::make_mut(topic).partitions;
        if index == partitions.len() {
            partitions.push(image);
        } else if let Some(known) = partitions.get_mut(index) {
            *known = image;
        }
        // Anything else is never logged: the controller numbers partitions without gaps.
    }

    fn replay_remove_topic(&mut self, id: TopicId) {
        if let Some(name) = self.topic_names.remove(&id) {
            self.topics.remove(&name);
            self.configs.remove(&ConfigResource::Topic(name));
        }
    }

    fn replay_config(&mut self, resource: &ConfigResource, name: &str, value: Option<&str>) {
        let configs = Arc::make_mut(self.configs.entry(resource.clone()).or_default());
        match value {
            Some(value) => configs.insert(name.into(), value.into()),
            None => configs.remove(name),
        };
        if configs.is_empty() {
            self.configs.remove(resource);
        }
    }

    fn replay_client_quota(&mut self, entity: &QuotaEntity, key: &str, value: Option<QuotaValue>) {
        let all = Arc::make_mut(&mut self.client_quotas);
        let quotas = Arc::make_mut(all.entry(Arc::new(entity.clone())).or_default());
        match value {
            Some(value) => quotas.insert(key.into(), value),
            None => quotas.remove(key),
        };
        if quotas.is_empty() {
            all.remove(entity);
        }
    }

    /// Records that lead from nothing to this image: what a snapshot holds.
    pub fn to_records(&self) -> Vec<MetadataRecord> {
        let mut records = Vec::new();
        if !self.cluster_id.is_empty() {
            records.push(MetadataRecord::Cluster { cluster_id: self.cluster_id.to_string() });
        }
        for (&broker_id, broker) in &self.brokers {
            records.push(broker.to_record(broker_id));
            if broker.fenced {
                records.push(MetadataRecord::FenceBroker { broker_id, fenced: true });
            }
        }
        for topic in self.topics.values() {
            records.push(MetadataRecord::Topic { topic_id: topic.id, name: topic.name.clone() });
            let partitions = (0..).zip(&topic.partitions);
            records.extend(partitions.map(|(index, it)| it.to_record(topic.id, index)));
        }
        for (resource, configs) in &self.configs {
            records.extend(configs.iter().map(|(name, value)| MetadataRecord::Config {
                resource: resource.clone(),
                name: name.clone(),
                value: Some(value.clone()),
            }));
        }
        for (entity, quotas) in &*self.client_quotas {
            records.extend(quotas.iter().map(|(key, &value)| MetadataRecord::ClientQuota {
                entity: QuotaEntity::clone(entity),
                key: key.clone(),
                value: Some(value),
            }));
        }
        records.extend(
            self.features
                .iter()
                .map(|(name, level)| MetadataRecord::FeatureLevel { name: name.clone(), level }),
        );
        if self.next_producer_id != 0 {
            let next_producer_id = self.next_producer_id;
            records.push(MetadataRecord::ProducerIds { next_producer_id });
        }
        records
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

    /// Own configs of a group; `None` for no overrides.
    pub fn group_configs(&self, group: &GroupId) -> Option<&Arc<TopicConfigs>> {
        self.configs.get(&ConfigResource::Group(group.clone()))
    }

    /// What is altered of a broker's settings.
    pub fn alterations(&self, broker: BrokerId) -> Alterations<'_> {
        let of = |broker| self.configs.get(&ConfigResource::Broker(broker)).map(|it| &**it);
        Alterations { node: of(Some(broker)), cluster: of(None) }
    }

    /// Brokers that can lead, by id.
    pub fn active_brokers(&self) -> impl Iterator<Item = (BrokerId, &BrokerImage)> {
        self.brokers.iter().filter(|(_, it)| !it.fenced).map(|(&id, it)| (id, it))
    }
}

impl BrokerImage {
    /// The address under which a client that came in by `listener` reaches this broker.
    pub fn listener(&self, listener: &str) -> Option<&Listener> {
        self.listeners.iter().find(|it| it.name == listener)
    }

    fn to_record(&self, broker_id: BrokerId) -> MetadataRecord {
        MetadataRecord::RegisterBroker {
            broker_id,
            epoch: self.epoch,
            listeners: self
                .listeners
                .iter()
                .map(|it| (it.name.clone(), it.host.clone(), it.port))
                .collect(),
            rack: self.rack.clone(),
        }
    }
}

impl PartitionImage {
    fn from_record(record: &MetadataRecord) -> Option<Self> {
        let MetadataRecord::Partition {
            leader, leader_epoch, partition_epoch, replicas, isr, ..
        } = record
        else {
            return None;
        };
        Some(Self {
            leader: *leader,
            leader_epoch: *leader_epoch,
            partition_epoch: *partition_epoch,
            replicas: replicas.clone(),
            isr: isr.clone(),
        })
    }

    fn to_record(&self, topic_id: TopicId, partition: i32) -> MetadataRecord {
        MetadataRecord::Partition {
            topic_id,
            partition,
            leader: self.leader,
            leader_epoch: self.leader_epoch,
            partition_epoch: self.partition_epoch,
            replicas: self.replicas.clone(),
            isr: self.isr.clone(),
        }
    }
}

fn listener((name, host, port): &(String, String, u16)) -> Listener {
    Listener { name: name.clone(), host: host.clone(), port: *port }
}

#[cfg(test)]
mod tests;
