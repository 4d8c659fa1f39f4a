//! The error codes in an answer, for the metrics: of the whole, and of each of its parts.

use kafka_protocol::messages::{
    AlterClientQuotasResponse, AlterConfigsResponse, AlterPartitionReassignmentsResponse,
    AlterReplicaLogDirsResponse, ApiVersionsResponse, ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatResponse, CreatePartitionsResponse, CreateTopicsResponse,
    DeleteGroupsResponse, DeleteRecordsResponse, DeleteTopicsResponse,
    DescribeClientQuotasResponse, DescribeClusterResponse, DescribeConfigsResponse,
    DescribeGroupsResponse, DescribeLogDirsResponse, DescribeProducersResponse,
    DescribeQuorumResponse, DescribeTopicPartitionsResponse, ElectLeadersResponse, FetchResponse,
    FindCoordinatorResponse, GetTelemetrySubscriptionsResponse, HeartbeatResponse,
    IncrementalAlterConfigsResponse, InitProducerIdResponse, JoinGroupResponse, LeaveGroupResponse,
    ListConfigResourcesResponse, ListGroupsResponse, ListOffsetsResponse,
    ListPartitionReassignmentsResponse, MetadataResponse, OffsetCommitResponse,
    OffsetDeleteResponse, OffsetFetchResponse, OffsetForLeaderEpochResponse, ProduceResponse,
    PushTelemetryResponse, SyncGroupResponse, UpdateFeaturesResponse,
};

/// An answer that may tell of errors.
pub(super) trait ErrorCodes {
    /// Every code that it holds, 0 for what went well.
    fn error_codes(&self) -> impl Iterator<Item = i16>;
}

/// Those with one code, and those whose parts have one each: `=> field.field`, a list in a list.
macro_rules! error_codes {
    ($($response:ident $(=> $part:ident $(. $inner:ident)?)?;)*) => {$(
        impl ErrorCodes for $response {
            fn error_codes(&self) -> impl Iterator<Item = i16> {
                error_codes!(@of self $(, $part $(, $inner)?)?)
            }
        }
    )*};
    (@of $it:ident) => { std::iter::once($it.error_code) };
    (@of $it:ident, $part:ident) => { $it.$part.iter().map(|it| it.error_code) };
    (@of $it:ident, $part:ident, $inner:ident) => {
        $it.$part.iter().flat_map(|it| &it.$inner).map(|it| it.error_code)
    };
}

/// Those with a code of their own beside those of their parts.
macro_rules! whole_and_parts {
    ($($response:ident => $part:ident $(. $inner:ident)?;)*) => {$(
        impl ErrorCodes for $response {
            fn error_codes(&self) -> impl Iterator<Item = i16> {
                std::iter::once(self.error_code).chain(error_codes!(@of self, $part $(, $inner)?))
            }
        }
    )*};
}

error_codes! {
    AlterClientQuotasResponse => entries;
    AlterConfigsResponse => responses;
    AlterReplicaLogDirsResponse => results.partitions;
    ApiVersionsResponse;
    ConsumerGroupDescribeResponse => groups;
    ConsumerGroupHeartbeatResponse;
    CreatePartitionsResponse => results;
    CreateTopicsResponse => topics;
    DeleteGroupsResponse => results;
    DeleteRecordsResponse => topics.partitions;
    DeleteTopicsResponse => responses;
    DescribeClientQuotasResponse;
    DescribeClusterResponse;
    DescribeConfigsResponse => results;
    DescribeGroupsResponse => groups;
    DescribeProducersResponse => topics.partitions;
    DescribeQuorumResponse => topics.partitions;
    DescribeTopicPartitionsResponse => topics;
    GetTelemetrySubscriptionsResponse;
    HeartbeatResponse;
    IncrementalAlterConfigsResponse => responses;
    InitProducerIdResponse;
    JoinGroupResponse;
    ListConfigResourcesResponse;
    ListGroupsResponse;
    ListOffsetsResponse => topics.partitions;
    ListPartitionReassignmentsResponse;
    MetadataResponse => topics;
    OffsetCommitResponse => topics.partitions;
    OffsetForLeaderEpochResponse => topics.partitions;
    ProduceResponse => responses.partition_responses;
    PushTelemetryResponse;
    SyncGroupResponse;
}

whole_and_parts! {
    AlterPartitionReassignmentsResponse => responses.partitions;
    DescribeLogDirsResponse => results;
    ElectLeadersResponse => replica_election_results.partition_result;
    FetchResponse => responses.partitions;
    FindCoordinatorResponse => coordinators;
    LeaveGroupResponse => members;
    OffsetDeleteResponse => topics.partitions;
}

/// One code for each feature before version 2, one for all since.
impl ErrorCodes for UpdateFeaturesResponse {
    fn error_codes(&self) -> impl Iterator<Item = i16> {
        let features = self.results.iter().map(|it| it.error_code);
        std::iter::once(self.error_code).chain(features)
    }
}

/// One group before version 8, many since.
impl ErrorCodes for OffsetFetchResponse {
    fn error_codes(&self) -> impl Iterator<Item = i16> {
        let partitions = self.topics.iter().flat_map(|it| &it.partitions).map(|it| it.error_code);
        let groups = self.groups.iter().flat_map(|group| {
            let partitions = group.topics.iter().flat_map(|it| &it.partitions);
            std::iter::once(group.error_code).chain(partitions.map(|it| it.error_code))
        });
        std::iter::once(self.error_code).chain(partitions).chain(groups)
    }
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::{
        offset_fetch_response::{
            OffsetFetchResponseGroup, OffsetFetchResponsePartitions, OffsetFetchResponseTopics,
        },
        produce_response::{PartitionProduceResponse, TopicProduceResponse},
    };

    use super::*;

    #[test]
    fn each_part_of_an_answer_is_looked_at() {
        let partition = |code| PartitionProduceResponse::default().with_error_code(code);
        let topic = TopicProduceResponse::default()
            .with_partition_responses(vec![partition(0), partition(6)]);
        let produced = ProduceResponse::default().with_responses(vec![topic]);
        assert_eq!(produced.error_codes().collect::<Vec<_>>(), [0, 6]);

        let partition = OffsetFetchResponsePartitions::default().with_error_code(3);
        let topic = OffsetFetchResponseTopics::default().with_partitions(vec![partition]);
        let group =
            OffsetFetchResponseGroup::default().with_error_code(16).with_topics(vec![topic]);
        let fetched = OffsetFetchResponse::default().with_groups(vec![group]);
        assert_eq!(fetched.error_codes().collect::<Vec<_>>(), [0, 16, 3]);
    }
}
