//! Where an answer tells its client for how long it is held back.

use kafka_protocol::messages::{
    AlterClientQuotasResponse, AlterConfigsResponse, AlterPartitionReassignmentsResponse,
    ApiVersionsResponse, CreatePartitionsResponse, CreateTopicsResponse, DeleteGroupsResponse,
    DeleteRecordsResponse, DeleteTopicsResponse, DescribeClientQuotasResponse,
    DescribeClusterResponse, DescribeConfigsResponse, DescribeGroupsResponse,
    DescribeLogDirsResponse, DescribeProducersResponse, DescribeQuorumResponse,
    DescribeTopicPartitionsResponse, ElectLeadersResponse, FindCoordinatorResponse,
    GetTelemetrySubscriptionsResponse, HeartbeatResponse, IncrementalAlterConfigsResponse,
    InitProducerIdResponse, JoinGroupResponse, LeaveGroupResponse, ListConfigResourcesResponse,
    ListGroupsResponse, ListOffsetsResponse, ListPartitionReassignmentsResponse, MetadataResponse,
    OffsetCommitResponse, OffsetDeleteResponse, OffsetFetchResponse, OffsetForLeaderEpochResponse,
    ProduceResponse, PushTelemetryResponse, SyncGroupResponse, UpdateFeaturesResponse,
};

/// An answer that may tell it. Versions without the field leave it out.
pub(super) trait ThrottleTime {
    /// `None` where no version has the field: such a client is held back without a word, as in Kafka.
    fn throttle_time_ms(&mut self) -> Option<&mut i32>;
}

macro_rules! throttle_time {
    ($($response:ident,)*) => {$(
        impl ThrottleTime for $response {
            fn throttle_time_ms(&mut self) -> Option<&mut i32> {
                Some(&mut self.throttle_time_ms)
            }
        }
    )*};
}

throttle_time! {
    AlterClientQuotasResponse,
    AlterConfigsResponse,
    AlterPartitionReassignmentsResponse,
    ApiVersionsResponse,
    CreatePartitionsResponse,
    CreateTopicsResponse,
    DeleteGroupsResponse,
    DeleteRecordsResponse,
    DeleteTopicsResponse,
    DescribeClientQuotasResponse,
    DescribeClusterResponse,
    DescribeConfigsResponse,
    DescribeGroupsResponse,
    DescribeLogDirsResponse,
    DescribeProducersResponse,
    DescribeTopicPartitionsResponse,
    ElectLeadersResponse,
    FindCoordinatorResponse,
    GetTelemetrySubscriptionsResponse,
    HeartbeatResponse,
    IncrementalAlterConfigsResponse,
    InitProducerIdResponse,
    JoinGroupResponse,
    LeaveGroupResponse,
    ListConfigResourcesResponse,
    ListGroupsResponse,
    ListOffsetsResponse,
    ListPartitionReassignmentsResponse,
    MetadataResponse,
    OffsetCommitResponse,
    OffsetDeleteResponse,
    OffsetFetchResponse,
    OffsetForLeaderEpochResponse,
    ProduceResponse,
    PushTelemetryResponse,
    SyncGroupResponse,
    UpdateFeaturesResponse,
}

impl ThrottleTime for DescribeQuorumResponse {
    fn throttle_time_ms(&mut self) -> Option<&mut i32> {
        None
    }
}
