//! All partitions of this node.

use std::sync::Arc;

use super::{FetchParams, FetchedPartition, Partition, ReplicaError};
use crate::{
    base::{LeaderEpoch, TopicId, TopicName, TopicPartition},
    config::Config,
    metadata::MetadataImage,
    telemetry::Metrics,
};

/// Opens, finds and deletes the partitions of this node as the metadata image says.
pub struct ReplicaManager {}

impl ReplicaManager {
    /// Locks the log directories. Logs are opened by the first [`ReplicaManager::apply`].
    pub fn start(config: &Arc<Config>, metrics: &Metrics) -> Result<Arc<Self>, ReplicaError> {
        let _ = (config, metrics);
        todo!()
    }

    /// Makes partitions as `image` says: opens and creates logs, deletes those of removed topics, takes over changed
    /// configs. Called for each new image, one at a time, off the runtime's workers.
    pub fn apply(&self, image: &Arc<MetadataImage>) {
        let _ = image;
        todo!()
    }

    /// The partition, if this node leads it and the caller's epoch (if any) is the current one.
    pub fn leader(
        &self,
        topic_partition: &TopicPartition,
        current_leader_epoch: Option<LeaderEpoch>,
    ) -> Result<Arc<Partition>, ReplicaError> {
        let _ = (topic_partition, current_leader_epoch);
        todo!()
    }

    /// Whether a name still means this topic.
    pub fn topic_id(&self, topic_partition: &TopicPartition) -> Option<TopicId> {
        let _ = topic_partition;
        todo!()
    }

    /// Partitions that a topic has; 0 for one that does not exist.
    pub fn partition_count(&self, topic: &TopicName) -> u32 {
        let _ = topic;
        todo!()
    }

    /// Every partition of this node, sorted.
    pub fn partitions(&self) -> Vec<Arc<Partition>> {
        todo!()
    }

    /// Reads, and waits in the purgatory up to `max_wait` while less than `min_bytes` are there and no partition has an error.
    pub async fn fetch(&self, params: FetchParams) -> Vec<FetchedPartition> {
        let _ = params;
        todo!()
    }

    /// Applies retention to every log; called now and then.
    pub fn retain(&self) {
        todo!()
    }

    /// fsyncs and closes every log, and leaves the clean-shutdown marker.
    pub fn close(&self) {
        todo!()
    }
}
