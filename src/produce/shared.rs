//! What all lanes use: the rooms below, and appends that tell the alert coordinator.

use std::sync::Arc;

use super::{
    ProduceError, Stored, decoded_budget::DecodedBudget, expansion::Expansion, keys::check_keys,
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
    /// Of batches that no hook has a say in.
    pub(crate) expansion: Expansion,
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

    /// A batch as its topic stores it, if no hook has a say; waits for room where that is found by expanding it.
    pub(crate) async fn as_stored(
        &self,
        batch: Batch,
        partition: &TopicPartition,
        config: &TopicConfig,
    ) -> Result<Batch, ProduceError> {
        check_keys(&batch, partition, config, &self.expansion).await?;
        in_the_topics_codec(batch, config, &self.expansion).await
    }

    pub(crate) fn leader(
        &self,
        partition: &TopicPartition,
    ) -> Result<Arc<Partition>, ProduceError> {
        Ok(self.replicas.leader(partition, None)?)
    }
}

/// `compression.type` other than the batch's own codec costs compressing it anew; otherwise it stays as received.
async fn in_the_topics_codec(
    batch: Batch,
    config: &TopicConfig,
    expansion: &Expansion,
) -> Result<Batch, ProduceError> {
    let codec = codec(&batch, config)?;
    if codec == batch.header.attributes.compression()? {
        return Ok(batch);
    }
    let batch = expansion.of(&batch, |bytes_max| batch.recompress(codec, bytes_max)).await?;
    // As in Kafka, what is stored has to fit too.
    let (size, max) = (batch.bytes.len(), config.max_message_bytes);
    if size > max { Err(ProduceError::TooLarge { size, max }) } else { Ok(batch) }
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
        config::{Config, TopicConfigs},
        wire::record_batch::{BatchBuilder, RecordParts},
    };

    #[tokio::test]
    async fn a_batch_fits_its_topic_in_the_topics_codec_too() {
        let mut builder = BatchBuilder::new(TimestampMs(0), Compression::Zstd);
        builder.push(&RecordParts {
            offset_delta: 0,
            timestamp_delta: 0,
            key: None,
            value: Some(&[b'x'; 5_000]),
            headers: Vec::new(),
        });
        let batch = builder.build().unwrap();
        let config = TopicConfig::resolve(&Config::default(), &"t".into(), &TopicConfigs::new());
        for (codec, max_message_bytes, fits) in [
            (Compression::None, 6_000, true),
            (Compression::None, 4_000, false),
            (Compression::Lz4, 4_000, true),
        ] {
            let compression_type = Some(codec);
            let config = TopicConfig { compression_type, max_message_bytes, ..config.clone() };
            match in_the_topics_codec(batch.clone(), &config, &Expansion::new(1 << 20)).await {
                Ok(it) => assert!(fits && it.header.attributes.compression().unwrap() == codec),
                Err(ProduceError::TooLarge { .. }) => assert!(!fits),
                Err(other) => panic!("{other}"),
            }
        }
    }

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
            let stored =
                in_the_topics_codec(sent.clone(), &config, &Expansion::new(1_000)).await.unwrap();
            assert_eq!(stored.header.attributes.compression(), Ok(codec), "{asked}");
            assert_eq!(stored.bytes == sent.bytes, codec == Compression::Gzip, "{asked}");
        }
    }
}
