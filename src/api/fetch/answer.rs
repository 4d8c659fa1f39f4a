//! A fetch's answer. A field is set only in versions that have it: the codec refuses others.

use std::collections::BTreeSet;

use bytes::Bytes;
use kafka_protocol::{
    messages::{
        BrokerId as WireBrokerId, FetchResponse,
        fetch_response::{
            EpochEndOffset, FetchableTopicResponse, LeaderIdAndEpoch, NodeEndpoint, PartitionData,
        },
    },
    protocol::StrBytes,
};

use super::{
    FetchedPartition,
    request::{Target, Topic},
};
use crate::{
    api::Context,
    base::{BrokerId, ErrorCode},
    metadata::MetadataImage,
    replica::{FetchedData, Isolation, Records},
    wire::fetch_response::STAND_IN,
};

/// From this version on, an answer tells who leads where this node does not (KIP-951).
const LEADERS_SINCE: i16 = 16;

/// One partition's answer, with a stand-in for its records, which go to `records`.
pub(super) fn partition(
    target: &Target,
    result: Result<FetchedPartition, ErrorCode>,
    isolation: Isolation,
    records: &mut Vec<Records>,
) -> PartitionData {
    let read = result.and_then(|it| it.result.map_err(ErrorCode::from));
    match read {
        Ok(read) => data(target.partition, read, isolation, records),
        Err(error) => PartitionData::default()
            .with_partition_index(target.partition)
            .with_error_code(error.code())
            .with_high_watermark(-1)
            .with_aborted_transactions(None)
            .with_records(Some(Bytes::new())),
    }
}

fn data(
    partition: i32,
    read: FetchedData,
    isolation: Isolation,
    records: &mut Vec<Records>,
) -> PartitionData {
    let aborted = match isolation {
        Isolation::ReadUncommitted => None,
        Isolation::ReadCommitted => Some(Vec::new()),
    };
    let diverging = read.diverging_epoch.map_or_else(EpochEndOffset::default, |(epoch, end)| {
        // Only asked for from version 12 on, which has the field.
        EpochEndOffset::default().with_epoch(epoch.0).with_end_offset(end.0)
    });
    read.partition.fetched(read.bytes());
    let stand_in = if read.records.is_some() { STAND_IN } else { Bytes::new() };
    records.extend(read.records);
    PartitionData::default()
        .with_partition_index(partition)
        .with_high_watermark(read.high_watermark.0)
        .with_last_stable_offset(read.last_stable_offset.0)
        .with_log_start_offset(read.log_start_offset.0)
        .with_diverging_epoch(diverging)
        .with_aborted_transactions(aborted)
        .with_records(Some(stand_in))
}

/// The whole answer; neighbours of one topic share its entry.
pub(super) fn response(
    session_id: i32,
    answers: Vec<(Target, PartitionData)>,
    image: &MetadataImage,
    context: &Context,
) -> FetchResponse {
    let mut topics: Vec<(Topic, FetchableTopicResponse)> = Vec::new();
    let mut leaders = BTreeSet::new();
    for (target, mut data) in answers {
        if context.api_version >= LEADERS_SINCE {
            tell_leader(&target, &mut data, image, &mut leaders);
        }
        if let Some((_, topic)) = topics.last_mut().filter(|(topic, _)| *topic == target.topic) {
            topic.partitions.push(data);
        } else {
            let topic = named(&target.topic).with_partitions(vec![data]);
            topics.push((target.topic, topic));
        }
    }
    let endpoints = leaders.into_iter().filter_map(|id| endpoint(id, image, context));
    FetchResponse::default()
        .with_session_id(session_id)
        .with_responses(topics.into_iter().map(|(_, topic)| topic).collect())
        .with_node_endpoints(endpoints.collect())
}

fn named(topic: &Topic) -> FetchableTopicResponse {
    match topic {
        Topic::Name(name) => FetchableTopicResponse::default()
            .with_topic(StrBytes::from_string(name.to_string()).into()),
        Topic::Id(id) => FetchableTopicResponse::default().with_topic_id(id.0),
    }
}

fn tell_leader(
    target: &Target,
    data: &mut PartitionData,
    image: &MetadataImage,
    leaders: &mut BTreeSet<BrokerId>,
) {
    let error = ErrorCode::from_code(data.error_code);
    if !matches!(error, ErrorCode::NotLeaderOrFollower | ErrorCode::FencedLeaderEpoch) {
        return;
    }
    let Ok(key) = target.topic_partition(image) else { return };
    let partition = image.partition(key.topic.as_str(), key.partition);
    if let Some((leader, epoch)) = partition.and_then(|it| Some((it.leader?, it.leader_epoch))) {
        leaders.insert(leader);
        data.current_leader = LeaderIdAndEpoch::default()
            .with_leader_id(WireBrokerId(leader.0))
            .with_leader_epoch(epoch.0);
    }
}

/// A broker's address on the listener that the client came in by.
fn endpoint(id: BrokerId, image: &MetadataImage, context: &Context) -> Option<NodeEndpoint> {
    let broker = image.brokers.get(&id)?;
    let listener = broker.listeners.iter().find(|it| *it.name == *context.listener)?;
    Some(
        NodeEndpoint::default()
            .with_node_id(WireBrokerId(id.0))
            .with_host(StrBytes::from_string(listener.host.clone()))
            .with_port(i32::from(listener.port))
            .with_rack(broker.rack.clone().map(StrBytes::from_string)),
    )
}
