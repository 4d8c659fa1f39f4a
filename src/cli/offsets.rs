//! Offsets of partitions, as ListOffsets tells them.

use std::collections::BTreeMap;

use kafka_protocol::messages::{
    BrokerId, ListOffsetsRequest,
    list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
};

use super::client::{Client, check, text};
use crate::base::ErrorCode;

/// Sentinels of ListOffsets.
pub(super) const LATEST: i64 = -1;
pub(super) const EARLIEST: i64 = -2;

/// By topic and partition; a partition that is not there, or not open yet, has none.
pub(super) fn offsets(
    client: &mut Client,
    partitions: impl IntoIterator<Item = (String, i32)>,
    timestamp: i64,
) -> anyhow::Result<BTreeMap<(String, i32), i64>> {
    let mut topics: BTreeMap<String, Vec<ListOffsetsPartition>> = BTreeMap::new();
    for (topic, partition) in partitions {
        let asked = ListOffsetsPartition::default()
            .with_partition_index(partition)
            .with_timestamp(timestamp);
        topics.entry(topic).or_default().push(asked);
    }
    let topics = topics.into_iter().map(|(name, partitions)| {
        ListOffsetsTopic::default().with_name(text(&name).into()).with_partitions(partitions)
    });
    let request =
        ListOffsetsRequest::default().with_replica_id(BrokerId(-1)).with_topics(topics.collect());
    let mut found = BTreeMap::new();
    for topic in client.call(5, &request)?.topics {
        for it in topic.partitions {
            if ErrorCode::from_code(it.error_code) != ErrorCode::UnknownTopicOrPartition {
                check(&format!("{}-{}", &*topic.name, it.partition_index), it.error_code, None)?;
                found.insert((topic.name.to_string(), it.partition_index), it.offset);
            }
        }
    }
    Ok(found)
}
