//! A small request of every API and version, with one element in each of its arrays.

use bytes::{Bytes, BytesMut};
use kafka_protocol::{
    messages::{
        AlterConfigsRequest, ApiKey, ApiVersionsRequest, BrokerId, CreatePartitionsRequest,
        CreateTopicsRequest, DeleteGroupsRequest, DeleteTopicsRequest, DescribeClusterRequest,
        DescribeConfigsRequest, DescribeGroupsRequest, FetchRequest, FindCoordinatorRequest,
        GroupId, HeartbeatRequest, IncrementalAlterConfigsRequest, InitProducerIdRequest,
        JoinGroupRequest, LeaveGroupRequest, ListGroupsRequest, ListOffsetsRequest,
        MetadataRequest, OffsetCommitRequest, OffsetFetchRequest, ProduceRequest, SyncGroupRequest,
        TopicName, alter_configs_request, create_partitions_request, create_topics_request,
        delete_topics_request::DeleteTopicState, describe_configs_request::DescribeConfigsResource,
        fetch_request, incremental_alter_configs_request,
        join_group_request::JoinGroupRequestProtocol, leave_group_request::MemberIdentity,
        list_offsets_request, metadata_request::MetadataRequestTopic, offset_commit_request,
        offset_fetch_request, produce_request, sync_group_request::SyncGroupRequestAssignment,
    },
    protocol::{Encodable, StrBytes},
};

use super::{
    group_samples::group_sample, partition_samples::partition_sample,
    settings_samples::settings_sample,
};

/// A topic that no broker has; requests name it and get an error.
const TOPIC: &str = "hostile";

fn text(it: &'static str) -> StrBytes {
    StrBytes::from_static_str(it)
}

pub(super) fn topic() -> TopicName {
    TopicName(text(TOPIC))
}

pub(super) fn group() -> GroupId {
    GroupId(text("hostile"))
}

/// The body of a request, valid in its version.
pub(crate) fn sample_body(key: i16, version: i16) -> BytesMut {
    let key = ApiKey::try_from(key).expect("a known key");
    match key {
        ApiKey::Produce => encoded(version, &produce(version)),
        ApiKey::Fetch => encoded(version, &fetch(version)),
        ApiKey::ListOffsets => encoded(version, &list_offsets()),
        ApiKey::Metadata => encoded(
            version,
            &MetadataRequest::default()
                .with_topics(Some(vec![MetadataRequestTopic::default().with_name(Some(topic()))]))
                .with_allow_auto_topic_creation(version < 4),
        ),
        ApiKey::OffsetCommit => encoded(version, &offset_commit()),
        ApiKey::OffsetFetch => encoded(version, &offset_fetch(version)),
        ApiKey::FindCoordinator => encoded(version, &find_coordinator(version)),
        ApiKey::JoinGroup => encoded(version, &join_group()),
        ApiKey::Heartbeat => encoded(version, &HeartbeatRequest::default().with_group_id(group())),
        ApiKey::LeaveGroup => encoded(version, &leave_group(version)),
        ApiKey::SyncGroup => encoded(version, &sync_group()),
        ApiKey::DescribeGroups => {
            encoded(version, &DescribeGroupsRequest::default().with_groups(vec![group()]))
        }
        ApiKey::ListGroups => encoded(version, &list_groups(version)),
        ApiKey::ApiVersions => encoded(version, &api_versions(version)),
        ApiKey::CreateTopics => encoded(version, &create_topics()),
        ApiKey::DeleteTopics => encoded(version, &delete_topics(version)),
        ApiKey::InitProducerId => encoded(version, &InitProducerIdRequest::default()),
        ApiKey::DescribeConfigs => encoded(version, &describe_configs()),
        ApiKey::AlterConfigs => encoded(version, &alter_configs()),
        ApiKey::CreatePartitions => encoded(version, &create_partitions()),
        ApiKey::DeleteGroups => {
            encoded(version, &DeleteGroupsRequest::default().with_groups_names(vec![group()]))
        }
        ApiKey::IncrementalAlterConfigs => encoded(version, &incremental_alter_configs()),
        ApiKey::DescribeCluster => encoded(version, &DescribeClusterRequest::default()),
        other => partition_sample(other, version)
            .or_else(|| settings_sample(other, version))
            .or_else(|| group_sample(other, version))
            .unwrap_or_else(|| panic!("{other:?} is served: give it a sample")),
    }
}

pub(super) fn encoded(version: i16, request: &impl Encodable) -> BytesMut {
    let mut out = BytesMut::new();
    request.encode(&mut out, version).expect("the sample fits its version");
    out
}

fn produce(version: i16) -> ProduceRequest {
    let partition = produce_request::PartitionProduceData::default()
        .with_records(Some(Bytes::from_static(b"no records")));
    let mut topic_data =
        produce_request::TopicProduceData::default().with_partition_data(vec![partition]);
    if version <= 12 {
        topic_data.name = topic();
    }
    ProduceRequest::default().with_acks(1).with_timeout_ms(10).with_topic_data(vec![topic_data])
}

fn fetch(version: i16) -> FetchRequest {
    let mut fetched = fetch_request::FetchTopic::default()
        .with_partitions(vec![fetch_request::FetchPartition::default()]);
    let mut forgotten = fetch_request::ForgottenTopic::default().with_partitions(vec![0]);
    if version <= 12 {
        fetched.topic = topic();
        forgotten.topic = topic();
    }
    let request = FetchRequest::default().with_topics(vec![fetched]);
    if version < 7 {
        return request;
    }
    request.with_forgotten_topics_data(vec![forgotten])
}

fn list_offsets() -> ListOffsetsRequest {
    let partition = list_offsets_request::ListOffsetsPartition::default();
    let topic = list_offsets_request::ListOffsetsTopic::default()
        .with_name(topic())
        .with_partitions(vec![partition]);
    ListOffsetsRequest::default().with_topics(vec![topic])
}

fn offset_commit() -> OffsetCommitRequest {
    let partition = offset_commit_request::OffsetCommitRequestPartition::default()
        .with_committed_metadata(Some(text("note")));
    let topic = offset_commit_request::OffsetCommitRequestTopic::default()
        .with_name(topic())
        .with_partitions(vec![partition]);
    OffsetCommitRequest::default().with_group_id(group()).with_topics(vec![topic])
}

fn offset_fetch(version: i16) -> OffsetFetchRequest {
    if version < 8 {
        let topic = offset_fetch_request::OffsetFetchRequestTopic::default()
            .with_name(topic())
            .with_partition_indexes(vec![0]);
        return OffsetFetchRequest::default().with_group_id(group()).with_topics(Some(vec![topic]));
    }
    let topic = offset_fetch_request::OffsetFetchRequestTopics::default()
        .with_name(topic())
        .with_partition_indexes(vec![0]);
    let of_group = offset_fetch_request::OffsetFetchRequestGroup::default()
        .with_group_id(group())
        .with_topics(Some(vec![topic]));
    OffsetFetchRequest::default().with_groups(vec![of_group])
}

fn find_coordinator(version: i16) -> FindCoordinatorRequest {
    if version < 4 {
        return FindCoordinatorRequest::default().with_key(text("hostile"));
    }
    FindCoordinatorRequest::default().with_coordinator_keys(vec![text("hostile")])
}

/// Of a session that no broker allows, so that no member waits for others.
fn join_group() -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(text("range"))
        .with_metadata(Bytes::from_static(b"no subscription"));
    JoinGroupRequest::default()
        .with_group_id(group())
        .with_session_timeout_ms(1)
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol])
}

fn leave_group(version: i16) -> LeaveGroupRequest {
    let request = LeaveGroupRequest::default().with_group_id(group());
    if version < 3 {
        return request.with_member_id(text("nobody"));
    }
    request.with_members(vec![MemberIdentity::default().with_member_id(text("nobody"))])
}

fn sync_group() -> SyncGroupRequest {
    let assignment = SyncGroupRequestAssignment::default()
        .with_member_id(text("nobody"))
        .with_assignment(Bytes::from_static(b"nothing"));
    SyncGroupRequest::default().with_group_id(group()).with_assignments(vec![assignment])
}

fn list_groups(version: i16) -> ListGroupsRequest {
    let mut request = ListGroupsRequest::default();
    if version >= 4 {
        request.states_filter = vec![text("Stable")];
    }
    if version >= 5 {
        request.types_filter = vec![text("classic")];
    }
    request
}

fn api_versions(version: i16) -> ApiVersionsRequest {
    if version < 3 {
        return ApiVersionsRequest::default();
    }
    ApiVersionsRequest::default()
        .with_client_software_name(text("it"))
        .with_client_software_version(text("1"))
}

/// Only to be looked at: a mutation may still make it true.
fn create_topics() -> CreateTopicsRequest {
    let assignment = create_topics_request::CreatableReplicaAssignment::default()
        .with_broker_ids(vec![BrokerId(1)]);
    let config = create_topics_request::CreatableTopicConfig::default()
        .with_name(text("retention.ms"))
        .with_value(Some(text("1000")));
    let topic = create_topics_request::CreatableTopic::default()
        .with_name(topic())
        .with_num_partitions(-1)
        .with_replication_factor(-1)
        .with_assignments(vec![assignment])
        .with_configs(vec![config]);
    CreateTopicsRequest::default().with_topics(vec![topic]).with_validate_only(true)
}

fn delete_topics(version: i16) -> DeleteTopicsRequest {
    if version < 6 {
        return DeleteTopicsRequest::default().with_topic_names(vec![topic()]);
    }
    let state = DeleteTopicState::default().with_name(Some(topic()));
    DeleteTopicsRequest::default().with_topics(vec![state])
}

/// The type of a topic's configs.
const TOPIC_RESOURCE: i8 = 2;

fn describe_configs() -> DescribeConfigsRequest {
    let resource = DescribeConfigsResource::default()
        .with_resource_type(TOPIC_RESOURCE)
        .with_resource_name(text(TOPIC))
        .with_configuration_keys(Some(vec![text("retention.ms")]));
    DescribeConfigsRequest::default().with_resources(vec![resource])
}

fn alter_configs() -> AlterConfigsRequest {
    let config = alter_configs_request::AlterableConfig::default()
        .with_name(text("retention.ms"))
        .with_value(Some(text("1000")));
    let resource = alter_configs_request::AlterConfigsResource::default()
        .with_resource_type(TOPIC_RESOURCE)
        .with_resource_name(text(TOPIC))
        .with_configs(vec![config]);
    AlterConfigsRequest::default().with_resources(vec![resource])
}

fn create_partitions() -> CreatePartitionsRequest {
    let assignment = create_partitions_request::CreatePartitionsAssignment::default()
        .with_broker_ids(vec![BrokerId(1)]);
    let topic = create_partitions_request::CreatePartitionsTopic::default()
        .with_name(topic())
        .with_count(2)
        .with_assignments(Some(vec![assignment]));
    CreatePartitionsRequest::default().with_topics(vec![topic]).with_validate_only(true)
}

fn incremental_alter_configs() -> IncrementalAlterConfigsRequest {
    let config = incremental_alter_configs_request::AlterableConfig::default()
        .with_name(text("retention.ms"))
        .with_value(Some(text("1000")));
    let resource = incremental_alter_configs_request::AlterConfigsResource::default()
        .with_resource_type(TOPIC_RESOURCE)
        .with_resource_name(text(TOPIC))
        .with_configs(vec![config]);
    IncrementalAlterConfigsRequest::default().with_resources(vec![resource])
}
