//! Small requests of the APIs about single partitions; as `samples`.

use bytes::BytesMut;
use kafka_protocol::messages::{
    AlterPartitionReassignmentsRequest, AlterReplicaLogDirsRequest, ApiKey, BrokerId,
    DeleteRecordsRequest, DescribeLogDirsRequest, DescribeProducersRequest,
    DescribeTopicPartitionsRequest, ElectLeadersRequest, ListPartitionReassignmentsRequest,
    OffsetDeleteRequest, OffsetForLeaderEpochRequest,
    alter_partition_reassignments_request as reassign,
    alter_replica_log_dirs_request::{AlterReplicaLogDir, AlterReplicaLogDirTopic},
    delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic},
    describe_log_dirs_request::DescribableLogDirTopic,
    describe_producers_request,
    describe_topic_partitions_request::{self, Cursor},
    elect_leaders_request::TopicPartitions,
    list_partition_reassignments_request::ListPartitionReassignmentsTopics,
    offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic},
    offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic},
};

use super::samples::{encoded, group, topic};

/// The body of a request, valid in its version; `None` for what is not about partitions.
pub(super) fn partition_sample(key: ApiKey, version: i16) -> Option<BytesMut> {
    Some(match key {
        ApiKey::DeleteRecords => encoded(version, &delete_records()),
        ApiKey::OffsetForLeaderEpoch => encoded(version, &offset_for_leader_epoch()),
        ApiKey::OffsetDelete => encoded(version, &offset_delete()),
        ApiKey::ListPartitionReassignments => encoded(version, &list_partition_reassignments()),
        ApiKey::AlterPartitionReassignments => encoded(version, &alter_partition_reassignments()),
        ApiKey::ElectLeaders => encoded(version, &elect_leaders()),
        ApiKey::AlterReplicaLogDirs => encoded(version, &alter_replica_log_dirs()),
        ApiKey::DescribeLogDirs => encoded(version, &describe_log_dirs()),
        ApiKey::DescribeProducers => encoded(version, &describe_producers()),
        ApiKey::DescribeTopicPartitions => encoded(version, &describe_topic_partitions()),
        _ => return None,
    })
}

fn delete_records() -> DeleteRecordsRequest {
    let partition = DeleteRecordsPartition::default().with_offset(-1);
    let topic = DeleteRecordsTopic::default().with_name(topic()).with_partitions(vec![partition]);
    DeleteRecordsRequest::default().with_topics(vec![topic])
}

fn offset_for_leader_epoch() -> OffsetForLeaderEpochRequest {
    let partition = OffsetForLeaderPartition::default().with_leader_epoch(1);
    let topic =
        OffsetForLeaderTopic::default().with_topic(topic()).with_partitions(vec![partition]);
    OffsetForLeaderEpochRequest::default().with_topics(vec![topic])
}

fn offset_delete() -> OffsetDeleteRequest {
    let partition = OffsetDeleteRequestPartition::default();
    let topic =
        OffsetDeleteRequestTopic::default().with_name(topic()).with_partitions(vec![partition]);
    OffsetDeleteRequest::default().with_group_id(group()).with_topics(vec![topic])
}

fn list_partition_reassignments() -> ListPartitionReassignmentsRequest {
    let topic = ListPartitionReassignmentsTopics::default()
        .with_name(topic())
        .with_partition_indexes(vec![0]);
    ListPartitionReassignmentsRequest::default().with_topics(Some(vec![topic]))
}

fn alter_partition_reassignments() -> AlterPartitionReassignmentsRequest {
    let partition =
        reassign::ReassignablePartition::default().with_replicas(Some(vec![BrokerId(1)]));
    let topic =
        reassign::ReassignableTopic::default().with_name(topic()).with_partitions(vec![partition]);
    AlterPartitionReassignmentsRequest::default().with_topics(vec![topic])
}

fn elect_leaders() -> ElectLeadersRequest {
    let topic = TopicPartitions::default().with_topic(topic()).with_partitions(vec![0]);
    ElectLeadersRequest::default().with_topic_partitions(Some(vec![topic]))
}

fn alter_replica_log_dirs() -> AlterReplicaLogDirsRequest {
    let topic = AlterReplicaLogDirTopic::default().with_name(topic()).with_partitions(vec![0]);
    let dir = AlterReplicaLogDir::default().with_path("/nowhere".into()).with_topics(vec![topic]);
    AlterReplicaLogDirsRequest::default().with_dirs(vec![dir])
}

fn describe_log_dirs() -> DescribeLogDirsRequest {
    let topic = DescribableLogDirTopic::default().with_topic(topic()).with_partitions(vec![0]);
    DescribeLogDirsRequest::default().with_topics(Some(vec![topic]))
}

fn describe_producers() -> DescribeProducersRequest {
    let topic = describe_producers_request::TopicRequest::default()
        .with_name(topic())
        .with_partition_indexes(vec![0]);
    DescribeProducersRequest::default().with_topics(vec![topic])
}

fn describe_topic_partitions() -> DescribeTopicPartitionsRequest {
    let asked = describe_topic_partitions_request::TopicRequest::default().with_name(topic());
    let cursor = Cursor::default().with_topic_name(topic());
    DescribeTopicPartitionsRequest::default().with_topics(vec![asked]).with_cursor(Some(cursor))
}
