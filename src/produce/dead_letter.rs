//! Stores the records of a batch that a failed transform's `dead-letter` policy sends elsewhere, with headers that tell why.

use super::{
    ProduceError,
    hooks::{DeadLetters, Transformed},
    shared::Shared,
};
use crate::{
    base::{TopicName, TopicPartition},
    replica::Acks,
    wire::record_batch::{BatchBuilder, Compression, Header, RecordParts},
};

/// Stores them before the batch that they leave, at least once.
pub(crate) async fn store(
    shared: &Shared,
    acks: Acks,
    source: &TopicPartition,
    transformed: &Transformed,
) -> Result<(), ProduceError> {
    for letters in &transformed.dead_letters {
        store_one(shared, acks, source, letters).await?;
    }
    Ok(())
}

async fn store_one(
    shared: &Shared,
    acks: Acks,
    source: &TopicPartition,
    letters: &DeadLetters,
) -> Result<(), ProduceError> {
    let topic = match &letters.topic {
        Some(topic) => TopicName::from(topic.as_str()),
        None => TopicName::from(format!("{}.dead-letter", source.topic).as_str()),
    };
    let partitions = shared.replicas.partition_count(&topic);
    if partitions == 0 {
        return Err(ProduceError::HookFailed(format!(
            "the dead-letter topic {topic} does not exist"
        )));
    }
    let partition = source.partition % partitions as i32;
    let target = shared.leader(&TopicPartition { topic, partition })?;
    let Some(batch) = batch(source, letters) else { return Ok(()) };
    let appended = shared.append(&target, batch, acks, |_| Vec::new()).await?;
    Ok(target.committed(appended.last_offset, acks, std::time::Duration::from_secs(30)).await?)
}

fn batch(
    source: &TopicPartition,
    letters: &DeadLetters,
) -> Option<crate::wire::record_batch::Batch> {
    let partition = source.partition.to_string();
    let why = [
        ("klamm.dead-letter.topic", source.topic.as_str()),
        ("klamm.dead-letter.partition", partition.as_str()),
        ("klamm.dead-letter.plugin", letters.plugin.as_str()),
        ("klamm.dead-letter.reason", letters.reason.as_str()),
    ];
    let base = letters.batch.header.base_timestamp;
    let mut builder = BatchBuilder::new(base, Compression::None);
    for (delta, record) in letters.batch.records().enumerate() {
        let mut record = RecordParts::from(record);
        record.offset_delta = delta as i32;
        let why = why
            .iter()
            .map(|(name, value)| Header { name: name.as_bytes(), value: Some(value.as_bytes()) });
        record.headers.extend(why);
        builder.push(&record);
    }
    builder.build()
}
