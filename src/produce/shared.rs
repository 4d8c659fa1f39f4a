//! What all lanes use: the rooms below, and appends that tell the alert coordinator.

use std::sync::Arc;

use super::{ProduceError, Stored, metrics::ProduceMetrics, order::AppendOrder};
use crate::{
    alert::Evaluated,
    base::TopicPartition,
    config::TopicConfig,
    coordinator::AlertIntake,
    log::Appended,
    plugin::PluginHost,
    replica::{Acks, Partition, ReplicaManager},
    wire::record_batch::{Batch, Compression},
};

/// Shared by all lanes.
pub(crate) struct Shared {
    pub(crate) replicas: Arc<ReplicaManager>,
    pub(crate) plugins: Arc<PluginHost>,
    pub(crate) intake: AlertIntake,
    pub(crate) order: AppendOrder,
    pub(crate) metrics: ProduceMetrics,
    /// `klamm.decompressed.max.bytes`
    pub(crate) decompressed_max_bytes: usize,
}

impl Shared {
    /// Appends one batch and sends its verdicts as one step. A duplicate has been judged before.
    pub(crate) async fn append(
        &self,
        partition: &Partition,
        batch: Batch,
        acks: Acks,
        verdicts: impl FnOnce(&Appended) -> Vec<Evaluated>,
    ) -> Result<Appended, ProduceError> {
        let transforms = partition.config().transforms.len();
        let mut reserved = self.intake.reserve(transforms).await;
        let _order = (transforms > 0).then(|| self.order.lock(&partition.topic_partition));
        let appended = partition.append(vec![batch], acks)?;
        if !appended.duplicate {
            for verdict in verdicts(&appended) {
                reserved.send(verdict);
            }
        }
        Ok(appended)
    }

    pub(crate) fn leader(
        &self,
        partition: &TopicPartition,
    ) -> Result<Arc<Partition>, ProduceError> {
        Ok(self.replicas.leader(partition, None)?)
    }
}

/// The codec of a rebuilt batch: its own, unless `compression.type` says otherwise.
pub(crate) fn codec(batch: &Batch, config: &TopicConfig) -> Result<Compression, ProduceError> {
    match config.compression_type {
        Some(codec) => Ok(codec),
        None => Ok(batch.header.attributes.compression()?),
    }
}

impl From<&Appended> for Stored {
    fn from(appended: &Appended) -> Self {
        Self {
            base_offset: appended.base_offset,
            log_append_time: appended.log_append_time,
            log_start_offset: appended.log_start_offset,
        }
    }
}
