//! Partitions by topic id, as target and current assignments have them: array of topicId: uuid, partitions: array of i32.

use crate::group::{
    consumer::TopicPartitions,
    record::{Reader, RecordError, Writer},
};

pub(super) fn write(out: &mut Writer, partitions: &TopicPartitions) {
    out.compact_count(partitions.0.len());
    for (topic, partitions) in &partitions.0 {
        out.topic_id(*topic);
        out.compact_count(partitions.len());
        for partition in partitions {
            out.i32(*partition);
        }
        out.no_tagged_fields();
    }
}

/// A topic without partitions says nothing, and is left out.
pub(super) fn read(read: &mut Reader<'_>) -> Result<TopicPartitions, RecordError> {
    let mut topics = TopicPartitions::default();
    for _ in 0..read.count()? {
        let topic = read.topic_id()?;
        for _ in 0..read.count()? {
            topics.0.entry(topic).or_default().insert(read.i32()?);
        }
        read.tagged_fields(|_, _| ())?;
    }
    Ok(topics)
}
