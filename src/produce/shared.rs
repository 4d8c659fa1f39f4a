//! What all lanes use: the rooms below, and appends that tell the alert coordinator.

use std::sync::Arc;

use super::{
    ProduceError, Stored, decoded_budget::DecodedBudget, expansion::Expansion,
    inspection::Inspection, metrics::ProduceMetrics, order::AppendOrder,
};
use crate::{
    alert::{Evaluated, Watched},
    base::{PluginName, TopicPartition},
    coordinator::{AlertIntake, DeadLetterTopics},
    log::Appended,
    plugin::PluginHost,
    replica::{Acks, Partition, ReplicaManager},
    wire::record_batch::Batch,
};

/// Shared by all lanes.
pub(crate) struct Shared {
    pub(crate) replicas: Arc<ReplicaManager>,
    pub(crate) plugins: Arc<PluginHost>,
    pub(crate) intake: AlertIntake,
    pub(crate) dead_letter_topics: Option<DeadLetterTopics>,
    pub(crate) order: AppendOrder,
    pub(crate) metrics: ProduceMetrics,
    pub(crate) decoded: DecodedBudget,
    /// Of batches that no hook has a say in.
    pub(crate) expansion: Expansion,
    /// `fetch.max.bytes`
    pub(crate) answer_bytes_max: usize,
}

impl Shared {
    /// Appends one batch and sends its verdicts, of about `verdict_bytes`, as one step. A duplicate has been judged before.
    pub(crate) async fn append(
        &self,
        partition: &Partition,
        batch: Batch,
        acks: Acks,
        verdict_bytes: usize,
        verdicts: impl FnOnce(&Appended) -> Vec<Evaluated>,
    ) -> Result<Appended, ProduceError> {
        let transforms = &partition.config().transforms;
        self.keep_progress(partition, transforms).await?;
        let mut reserved = self.intake.reserve(transforms.len(), verdict_bytes).await;
        let _order = (!transforms.is_empty()).then(|| self.order.lock(&partition.topic_partition));
        let appended = partition.append(vec![batch], acks)?;
        if !appended.duplicate {
            for verdict in verdicts(&appended) {
                reserved.send(verdict);
            }
        }
        Ok(appended)
    }

    /// Before the first record that a transform sees is stored.
    async fn keep_progress(
        &self,
        partition: &Partition,
        transforms: &[PluginName],
    ) -> Result<(), ProduceError> {
        let source = &partition.topic_partition;
        for plugin in transforms {
            let from = partition.log().log_end_offset();
            let watched = Watched {
                topic_id: partition.topic_id,
                source: source.clone(),
                plugin: plugin.clone(),
            };
            if !self.intake.begin(watched, from).await {
                let reason = format!("the progress of {plugin} on {source} cannot be kept now");
                return Err(ProduceError::HookFailed(reason));
            }
        }
        Ok(())
    }

    /// The batch as it is to be stored where no hook sees it; waits for room where that is found by expanding it.
    pub(crate) async fn inspect(
        &self,
        batch: Batch,
        inspection: Inspection<'_>,
    ) -> Result<Batch, ProduceError> {
        inspection.of(batch, &self.expansion).await
    }

    pub(crate) fn leader(
        &self,
        partition: &TopicPartition,
    ) -> Result<Arc<Partition>, ProduceError> {
        Ok(self.replicas.leader(partition, None)?)
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
