//! Records of a compacted topic have keys: without one, compaction could only drop them. As Kafka's `LogValidator`, in its words.

use super::{ProduceError, RefusedRecord, edit::Edit, expansion::Expansion};
use crate::{
    base::TopicPartition,
    config::TopicConfig,
    wire::record_batch::{Batch, DecodedBatch},
};

/// Records that an answer names at most; a batch may have millions.
const NAMED_MAX: usize = 1_000;

/// Errors that the message spells out.
const SHOWN: usize = 3;

/// Refuses a batch with a record without a key, if the topic is compacted.
pub(crate) async fn check_keys(
    batch: &Batch,
    partition: &TopicPartition,
    config: &TopicConfig,
    expansion: &Expansion,
) -> Result<(), ProduceError> {
    if !config.cleanup_policy.compact {
        return Ok(());
    }
    let look = |bytes_max| {
        let (mut keyless, mut count) = (Vec::new(), 0);
        batch.records(bytes_max)?.for_each(|record| {
            if record.key().is_none() {
                note(&mut keyless, &mut count, record.index);
            }
        })?;
        Ok((keyless, count))
    };
    let (keyless, count) = expansion.of(batch, look).await?;
    refuse(&keyless, count, partition)
}

/// The same of what transforms have left of a batch.
pub(crate) fn check_keys_left(
    batch: &DecodedBatch,
    edit: &Edit,
    partition: &TopicPartition,
    config: &TopicConfig,
) -> Result<(), ProduceError> {
    if !config.cleanup_policy.compact {
        return Ok(());
    }
    let (mut keyless, mut count) = (Vec::new(), 0);
    for (index, (record, fate)) in (0..).zip(batch.records().zip(&edit.0)) {
        if fate.parts(record).is_some_and(|it| it.key.is_none()) {
            note(&mut keyless, &mut count, index);
        }
    }
    refuse(&keyless, count, partition)
}

fn note(keyless: &mut Vec<i32>, count: &mut usize, index: i32) {
    *count += 1;
    if keyless.len() < NAMED_MAX {
        keyless.push(index);
    }
}

fn refuse(keyless: &[i32], count: usize, partition: &TopicPartition) -> Result<(), ProduceError> {
    if keyless.is_empty() {
        return Ok(());
    }
    let reason = format!(
        "Compacted topic cannot accept message without key in topic partition {partition}."
    );
    let shown: Vec<_> = keyless
        .iter()
        .take(SHOWN)
        .map(|index| format!("RecordError(batchIndex={index}, message='{reason}')"))
        .collect();
    let message = format!(
        "One or more records have been rejected due to {count} record errors in total, and only showing the first three errors at most: [{}]",
        shown.join(", ")
    );
    let refused = |&index: &i32| RefusedRecord { index, reason: reason.clone() };
    Err(ProduceError::Refused { message, records: keyless.iter().map(refused).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::TimestampMs,
        config::{CleanupPolicy, Config, TopicConfigs},
        wire::record_batch::{BatchBuilder, Compression, CompressionError, RecordParts},
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

    #[tokio::test]
    async fn a_compacted_topic_refuses_what_has_no_key_and_names_it() {
        let (partition, expansion) = (TopicPartition::new("t", 4), Expansion::new(10_000));
        for codec in [Compression::None, Compression::Lz4] {
            let check = async |keys: &[Option<&[u8]>], compact| {
                check_keys(&batch(codec, keys), &partition, &config(compact), &expansion).await
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
        let partition = TopicPartition::new("t", 0);
        let many = batch(Compression::Zstd, &vec![None; 2_000]);
        let check = async |bytes_max| {
            check_keys(&many, &partition, &config(true), &Expansion::new(bytes_max)).await
        };
        let error = check(1 << 20).await.unwrap_err();
        let ProduceError::Refused { message, records } = error else { panic!("{error}") };
        assert!(message.contains("due to 2000 record errors"), "{message}");
        assert_eq!(records.len(), NAMED_MAX);
        let error = check(1_000).await.unwrap_err();
        let is_too_large = matches!(
            &error,
            ProduceError::Batch(crate::wire::record_batch::BatchError::Compression(
                CompressionError::TooLarge(_)
            ))
        );
        assert!(is_too_large, "{error}");
    }
}
