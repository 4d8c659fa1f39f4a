//! What all lanes use: the rooms below, and appends that tell the alert coordinator.

use std::sync::Arc;

use super::{
    ProduceError, Stored, decoded_budget::DecodedBudget, keys::check_keys, long_work::long_work,
    metrics::ProduceMetrics, order::AppendOrder,
};
use crate::{
    alert::{Evaluated, Watched},
    base::{PluginName, TopicPartition},
    config::TopicConfig,
    coordinator::{AlertIntake, DeadLetterTopics},
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
    pub(crate) dead_letter_topics: Option<DeadLetterTopics>,
    pub(crate) order: AppendOrder,
    pub(crate) metrics: ProduceMetrics,
    pub(crate) decoded: DecodedBudget,
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

    pub(crate) fn check_keys(
        &self,
        batch: &Batch,
        partition: &TopicPartition,
        config: &TopicConfig,
    ) -> Result<(), ProduceError> {
        check_keys(batch, partition, config, self.decoded.batch_bytes_max)
    }

    pub(crate) fn in_the_topics_codec(
        &self,
        batch: Batch,
        config: &TopicConfig,
    ) -> Result<Batch, ProduceError> {
        in_the_topics_codec(batch, config, self.decoded.batch_bytes_max)
    }

    pub(crate) fn leader(
        &self,
        partition: &TopicPartition,
    ) -> Result<Arc<Partition>, ProduceError> {
        Ok(self.replicas.leader(partition, None)?)
    }
}

/// `compression.type` other than the batch's own codec costs compressing it anew; otherwise it stays as received.
fn in_the_topics_codec(
    batch: Batch,
    config: &TopicConfig,
    bytes_max: usize,
) -> Result<Batch, ProduceError> {
    let codec = codec(&batch, config)?;
    if codec == batch.header.attributes.compression()? {
        return Ok(batch);
    }
    Ok(long_work(usize::MAX, || batch.recompress(codec, bytes_max))?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::TimestampMs,
        config::Config,
        wire::record_batch::{BatchBuilder, RecordParts},
    };

    #[tokio::test]
    async fn a_topics_codec_takes_the_place_of_the_producers() {
        let mut builder = BatchBuilder::new(TimestampMs(5), Compression::Gzip);
        builder.push(&RecordParts {
            offset_delta: 0,
            timestamp_delta: 0,
            key: None,
            value: Some(b"value"),
            headers: Vec::new(),
        });
        let sent = builder.build().unwrap();
        for (asked, codec) in [
            ("producer", Compression::Gzip),
            ("gzip", Compression::Gzip),
            ("zstd", Compression::Zstd),
            ("lz4", Compression::Lz4),
            ("snappy", Compression::Snappy),
            ("uncompressed", Compression::None),
        ] {
            let own = [("compression.type".into(), asked.into())].into();
            let config = TopicConfig::resolve(&Config::default(), &"t".into(), &own);
            let stored = in_the_topics_codec(sent.clone(), &config, 1_000).unwrap();
            assert_eq!(stored.header.attributes.compression(), Ok(codec), "{asked}");
            assert_eq!(stored.bytes == sent.bytes, codec == Compression::Gzip, "{asked}");
        }
    }
}
