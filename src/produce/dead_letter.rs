//! Stores the records of a batch that a failed transform's `dead-letter` policy sends elsewhere, with headers that tell why.

use std::{sync::Arc, time::Duration};

use super::{
    ProduceError,
    hooks::{DeadLetters, Transformed},
    shared::Shared,
};
use crate::{
    base::{TopicName, TopicPartition},
    replica::{Acks, Partition},
    wire::record_batch::{Batch, BatchBuilder, Compression, Header, RecordParts, RecordView},
};

/// How long a dead letter may take to be committed; the producer's own timeout is for its batch.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(30);

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
    let failed = |reason: &dyn std::fmt::Display| {
        ProduceError::HookFailed(format!("the records cannot go to the dead letters: {reason}"))
    };
    let target = target(shared, source, letters).await?;
    let bytes_max = target.config().max_message_bytes;
    let why = Why::of(source, letters);
    let mut records = letters.batch.records().peekable();
    while records.peek().is_some() {
        let batch = why.batch(letters, &mut records, bytes_max);
        let appended = shared.append(&target, batch, acks, 0, |_| Vec::new()).await;
        let last_offset = appended.map_err(|it| failed(&it))?.last_offset;
        target.committed(last_offset, acks, COMMIT_TIMEOUT).await.map_err(|it| failed(&it))?;
    }
    Ok(())
}

/// The partition of the dead-letter topic that takes them. A topic that does not exist is made, and the producer sends the
/// batch again.
async fn target(
    shared: &Shared,
    source: &TopicPartition,
    letters: &DeadLetters,
) -> Result<Arc<Partition>, ProduceError> {
    let topic = match &letters.topic {
        Some(topic) => TopicName::from(topic.as_str()),
        None => TopicName::from(format!("{}.dead-letter", source.topic).as_str()),
    };
    let failed = |what: &dyn std::fmt::Display| {
        let reason = &letters.reason;
        ProduceError::HookFailed(format!("{reason}; its dead-letter topic {topic} {what}"))
    };
    let partitions = shared.replicas.partition_count(&topic) as i32;
    if let Some(partition) = source.partition.checked_rem(partitions) {
        let target = shared.leader(&TopicPartition { topic: topic.clone(), partition });
        return target.map_err(|_| failed(&"has no leader here now"));
    }
    let Some(topics) = &shared.dead_letter_topics else { return Err(failed(&"does not exist")) };
    match topics.ensure(topic.clone()).await {
        Ok(()) => Err(failed(&"is being made")),
        Err(error) => Err(failed(&format_args!("cannot be made: {error}"))),
    }
}

/// Names and values of the headers that tell why.
struct Why([(&'static str, String); 4]);

impl Why {
    fn of(source: &TopicPartition, letters: &DeadLetters) -> Self {
        Self([
            ("klamm.dead-letter.topic", source.topic.to_string()),
            ("klamm.dead-letter.partition", source.partition.to_string()),
            ("klamm.dead-letter.plugin", letters.plugin.to_string()),
            ("klamm.dead-letter.reason", letters.reason.clone()),
        ])
    }

    /// The next records, until the batch is full: the headers can make a batch of small records many times as large.
    fn batch<'a>(
        &self,
        letters: &DeadLetters,
        records: &mut impl Iterator<Item = RecordView<'a>>,
        bytes_max: usize,
    ) -> Batch {
        let base = letters.batch.header.base_timestamp;
        let mut builder = BatchBuilder::new(base, Compression::None);
        for (delta, record) in (0..).zip(records) {
            let mut record = RecordParts { offset_delta: delta, ..record.into() };
            record.headers.extend(self.headers());
            builder.push(&record);
            if builder.size_bytes() >= bytes_max {
                break;
            }
        }
        builder.build().expect("the caller has a record left")
    }

    fn headers(&self) -> impl Iterator<Item = Header<'_>> {
        self.0
            .iter()
            .map(|(name, value)| Header { name: name.as_bytes(), value: Some(value.as_bytes()) })
    }
}
