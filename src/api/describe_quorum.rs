//! `DescribeQuorum` (key 55), versions 0 to 2: who votes on the metadata, and how far each is.
//!
//! | version | adds                                                        | source  |
//! |--------:|-------------------------------------------------------------|---------|
//! |       1 | when a replica fetched and was caught up                    | KIP-836 |
//! |       2 | messages, directory ids, and the endpoints of the voters    | KIP-853 |
//!
//! The one voter is this node, which leads. Offsets are those of the entries of the metadata log.
//!
//! Not served: the voter's directory id and endpoints (version 2), which a quorum of one has no use for.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        DescribeQuorumRequest, DescribeQuorumResponse,
        describe_quorum_request::TopicData as Asked,
        describe_quorum_response::{Node, PartitionData, ReplicaState, TopicData},
    },
    protocol::StrBytes,
};

use super::{Context, Rooms};
use crate::{
    base::{BrokerId, ErrorCode, TimestampMs},
    telemetry::now,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

/// How requests name the metadata log; its one partition is 0.
const METADATA_TOPIC: &str = "__cluster_metadata";

/// What there is to tell.
#[derive(Clone, Copy)]
struct Status {
    leader: BrokerId,
    epoch: i32,
    /// Behind the last entry that is committed; with one voter it is the log's end.
    high_watermark: i64,
    now: TimestampMs,
}

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DescribeQuorumRequest,
) -> DescribeQuorumResponse {
    let status = Status {
        leader: rooms.config.node.id,
        epoch: rooms.quorum.leader_epoch(),
        high_watermark: rooms.quorum.image().version as i64 + 1,
        now: now(),
    };
    answer(status, context.api_version, &request)
}

fn answer(status: Status, version: i16, request: &DescribeQuorumRequest) -> DescribeQuorumResponse {
    if is_of_metadata(request) {
        let topic = TopicData::default()
            .with_topic_name(StrBytes::from_static_str(METADATA_TOPIC).into())
            .with_partitions(vec![partition(status, version)]);
        let response = DescribeQuorumResponse::default().with_topics(vec![topic]);
        let node = || Node::default().with_node_id(status.leader.0.into());
        return if version >= 2 { response.with_nodes(vec![node()]) } else { response };
    }
    let topics = request.topics.iter().map(|it| unknown(it, version));
    DescribeQuorumResponse::default().with_topics(topics.collect())
}

fn is_of_metadata(request: &DescribeQuorumRequest) -> bool {
    let [topic] = &request.topics[..] else { return false };
    let [partition] = &topic.partitions[..] else { return false };
    topic.topic_name.as_str() == METADATA_TOPIC && partition.partition_index == 0
}

fn partition(status: Status, version: i16) -> PartitionData {
    let voter = ReplicaState::default()
        .with_replica_id(status.leader.0.into())
        .with_log_end_offset(status.high_watermark);
    // Of the leader itself they are now, as in Kafka.
    let voter = match version {
        0 => voter,
        _ => voter
            .with_last_fetch_timestamp(status.now.0)
            .with_last_caught_up_timestamp(status.now.0),
    };
    PartitionData::default()
        .with_leader_id(status.leader.0.into())
        .with_leader_epoch(status.epoch)
        .with_high_watermark(status.high_watermark)
        .with_current_voters(vec![voter])
}

fn unknown(topic: &Asked, version: i16) -> TopicData {
    let code = ErrorCode::UnknownTopicOrPartition;
    let message = "This server does not host this topic-partition.";
    let partitions = topic.partitions.iter().map(|it| {
        let message = (version >= 2).then(|| StrBytes::from_static_str(message));
        PartitionData::default()
            .with_partition_index(it.partition_index)
            .with_error_code(code.code())
            .with_error_message(message)
    });
    TopicData::default()
        .with_topic_name(topic.topic_name.clone())
        .with_partitions(partitions.collect())
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::describe_quorum_request::PartitionData as AskedPartition;

    use super::*;
    use crate::api::test_node::encodes;

    const STATUS: Status =
        Status { leader: BrokerId(1), epoch: 3, high_watermark: 12, now: TimestampMs(99) };

    fn ask(topic: &'static str, partition: i32) -> DescribeQuorumRequest {
        let partition = AskedPartition::default().with_partition_index(partition);
        let topic = Asked::default()
            .with_topic_name(StrBytes::from_static_str(topic).into())
            .with_partitions(vec![partition]);
        DescribeQuorumRequest::default().with_topics(vec![topic])
    }

    #[test]
    fn the_metadata_log_has_one_voter_who_leads() {
        for version in VERSIONS {
            let response = answer(STATUS, version, &ask(METADATA_TOPIC, 0));
            encodes(&response, version);
            let partition = &response.topics[0].partitions[0];
            assert_eq!((partition.error_code, partition.leader_epoch), (0, 3));
            assert_eq!((partition.leader_id.0, partition.high_watermark), (1, 12));
            let voter = &partition.current_voters[0];
            assert_eq!((voter.replica_id.0, voter.log_end_offset), (1, 12));
            assert_eq!(voter.last_fetch_timestamp, if version == 0 { -1 } else { 99 });
            assert_eq!(response.nodes.len(), usize::from(version >= 2));
        }
    }

    #[test]
    fn nothing_else_has_a_quorum() {
        for version in VERSIONS {
            for request in [ask("t", 0), ask(METADATA_TOPIC, 1)] {
                let response = answer(STATUS, version, &request);
                encodes(&response, version);
                let partition = &response.topics[0].partitions[0];
                assert_eq!(partition.error_code, ErrorCode::UnknownTopicOrPartition.code());
            }
        }
    }
}
