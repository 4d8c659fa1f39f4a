//! Records of a compacted topic have keys: without one, compaction could only drop them. As Kafka's `LogValidator`, in its words.

use super::{ProduceError, RefusedRecord, edit::Edit};
use crate::{base::TopicPartition, config::TopicConfig, wire::record_batch::DecodedBatch};

/// Records that an answer names at most; a batch may have millions.
const NAMED_MAX: usize = 1_000;

/// Errors that the message spells out.
const SHOWN: usize = 3;

/// The records of a batch that have no key, as they are looked at.
#[derive(Default)]
pub(crate) struct Keyless {
    /// The first of them.
    indices: Vec<i32>,
    count: usize,
}

impl Keyless {
    pub(crate) fn note(&mut self, index: i32) {
        self.count += 1;
        if self.indices.len() < NAMED_MAX {
            self.indices.push(index);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Refuses the batch, if there are any.
    pub(crate) fn refuse(&self, partition: &TopicPartition) -> Result<(), ProduceError> {
        if self.is_empty() {
            return Ok(());
        }
        let reason = format!(
            "Compacted topic cannot accept message without key in topic partition {partition}."
        );
        let shown: Vec<_> = self
            .indices
            .iter()
            .take(SHOWN)
            .map(|index| format!("RecordError(batchIndex={index}, message='{reason}')"))
            .collect();
        let message = format!(
            "One or more records have been rejected due to {} record errors in total, and only showing the first three errors at most: [{}]",
            self.count,
            shown.join(", ")
        );
        let refused = |&index: &i32| RefusedRecord { index, reason: reason.clone() };
        Err(ProduceError::Refused { message, records: self.indices.iter().map(refused).collect() })
    }
}

/// Refuses what transforms have left of a batch, if the topic is compacted and a record has no key.
pub(crate) fn check_keys_left(
    batch: &DecodedBatch,
    edit: &Edit,
    partition: &TopicPartition,
    config: &TopicConfig,
) -> Result<(), ProduceError> {
    if !config.cleanup_policy.compact {
        return Ok(());
    }
    let mut keyless = Keyless::default();
    for (index, (record, fate)) in (0..).zip(batch.records().zip(&edit.0)) {
        if fate.parts(record).is_some_and(|it| it.key.is_none()) {
            keyless.note(index);
        }
    }
    keyless.refuse(partition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::TimestampMs,
        config::{CleanupPolicy, Config, TopicConfigs},
        produce::{expansion::Expansion, inspection::Inspection},
        wire::record_batch::{Batch, BatchBuilder, Compression, CompressionError, RecordParts},
    };

    fn batch(codec: Compression, keys: &[Option<&[u8]>]) -> Batch {
        let mut builder = BatchBuilder::new(TimestampMs(5), codec);
        for (offset_delta, &key) in (0..).zip(keys) {
            builder.push(&RecordParts {
                offset_delta,
                timestamp_delta: 0,
                key,
                value: Some(&[b'v'; 100]),
                headers: Vec::new(),
            });
        }
        builder.build().unwrap()
    }

    fn config(compact: bool) -> TopicConfig {
        let config = TopicConfig::resolve(&Config::default(), &"t".into(), &TopicConfigs::new());
        TopicConfig { cleanup_policy: CleanupPolicy { delete: true, compact }, ..config }
    }

    /// As a partition of a topic takes a batch that may become so large.
    async fn check(batch: &Batch, compact: bool, bytes_max: usize) -> Result<(), ProduceError> {
        let (partition, config) = (TopicPartition::new("t", 4), config(compact));
        let now = TimestampMs(5);
        let inspection = Inspection { partition: &partition, config: &config, now };
        inspection.of(batch.clone(), &Expansion::new(bytes_max)).await.map(drop)
    }

    #[tokio::test]
    async fn a_compacted_topic_refuses_what_has_no_key_and_names_it() {
        for codec in [Compression::None, Compression::Lz4] {
            let check = async |keys: &[Option<&[u8]>], compact| {
                check(&batch(codec, keys), compact, 10_000).await
            };
            assert!(check(&[None], false).await.is_ok());
            assert!(check(&[Some(b""), Some(b"k")], true).await.is_ok(), "an empty key is one");
            let error = check(&[Some(b"k"), None, None], true).await.unwrap_err();
            let ProduceError::Refused { message, records } = error else { panic!("{error}") };
            assert!(message.contains("due to 2 record errors in total"), "{message}");
            let indices: Vec<_> = records.iter().map(|it| it.index).collect();
            assert_eq!(indices, [1, 2]);
            assert!(records[0].reason.ends_with("without key in topic partition t-4."));
        }
    }

    #[tokio::test]
    async fn an_answer_names_so_many_and_no_bomb_is_expanded() {
        let many = batch(Compression::Zstd, &vec![None; 2_000]);
        let error = check(&many, true, 1 << 20).await.unwrap_err();
        let ProduceError::Refused { message, records } = error else { panic!("{error}") };
        assert!(message.contains("due to 2000 record errors"), "{message}");
        assert_eq!(records.len(), NAMED_MAX);
        let error = check(&many, true, 1_000).await.unwrap_err();
        let is_too_large = matches!(
            &error,
            ProduceError::Batch(crate::wire::record_batch::BatchError::Compression(
                CompressionError::TooLarge(_)
            ))
        );
        assert!(is_too_large, "{error}");
    }
}
