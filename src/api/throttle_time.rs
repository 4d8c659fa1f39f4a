//! Where an answer tells its client for how long it is held back.

use kafka_protocol::messages::{
    AlterClientQuotasResponse, AlterConfigsResponse, AlterPartitionReassignmentsResponse,
    AlterReplicaLogDirsResponse, ApiVersionsResponse, ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatResponse, CreatePartitionsResponse, CreateTopicsResponse,
    DeleteGroupsResponse, DeleteRecordsResponse, DeleteTopicsResponse,
    DescribeClientQuotasResponse, DescribeClusterResponse, DescribeConfigsResponse,
    DescribeGroupsResponse, DescribeLogDirsResponse, DescribeProducersResponse,
    DescribeQuorumResponse, DescribeTopicPartitionsResponse, ElectLeadersResponse,
    FindCoordinatorResponse, GetTelemetrySubscriptionsResponse, HeartbeatResponse,
    IncrementalAlterConfigsResponse, InitProducerIdResponse, JoinGroupResponse, LeaveGroupResponse,
    ListConfigResourcesResponse, ListGroupsResponse, ListOffsetsResponse,
    ListPartitionReassignmentsResponse, MetadataResponse, OffsetCommitResponse,
    OffsetDeleteResponse, OffsetFetchResponse, OffsetForLeaderEpochResponse, ProduceResponse,
    PushTelemetryResponse, SyncGroupResponse, UpdateFeaturesResponse,
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
    AlterReplicaLogDirsResponse,
    ApiVersionsResponse,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatResponse,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{self, test_node::encodes};

    #[test]
    fn versions_without_the_field_leave_it_out() {
        macro_rules! encode {
            ($($response:ident of $api:ident),*) => {$(
                for version in api::$api::VERSIONS {
                    let mut response = $response::default();
                    *response.throttle_time_ms().unwrap() = 7;
                    encodes(&response, version);
                }
            )*};
        }
        encode!(
            ApiVersionsResponse of api_versions,
            CreatePartitionsResponse of create_partitions,
            CreateTopicsResponse of create_topics,
            DeleteGroupsResponse of delete_groups,
            DeleteTopicsResponse of delete_topics,
            DescribeConfigsResponse of describe_configs,
            DescribeGroupsResponse of describe_groups,
            FindCoordinatorResponse of find_coordinator,
            HeartbeatResponse of heartbeat,
            InitProducerIdResponse of init_producer_id,
            LeaveGroupResponse of leave_group,
            ListGroupsResponse of list_groups,
            ListOffsetsResponse of list_offsets,
            MetadataResponse of metadata,
            OffsetCommitResponse of offset_commit,
            OffsetFetchResponse of offset_fetch,
            OffsetForLeaderEpochResponse of offset_for_leader_epoch,
            ProduceResponse of produce,
            SyncGroupResponse of sync_group
        );
    }
}
