//! Request handlers: one file an API, named as in the protocol guide.
//!
//! To see what a request does, open the file of its name; to see what is served, read the table below.
//!
//! Rule: a handler returns a response value; it never writes to a connection. A partition that fails is data.
//! What `ApiVersions` announces is built from what is served.

pub mod alter_client_quotas;
pub mod alter_configs;
pub mod alter_partition_reassignments;
pub mod alter_replica_log_dirs;
mod altered_configs;
pub mod api_versions;
mod authorized_operations;
mod config_resource;
pub mod consumer_group_describe;
pub mod consumer_group_heartbeat;
mod consumer_protocol;
mod context;
pub mod create_partitions;
pub mod create_topics;
pub mod delete_groups;
pub mod delete_records;
pub mod delete_topics;
pub mod describe_client_quotas;
pub mod describe_cluster;
pub mod describe_configs;
pub mod describe_groups;
pub mod describe_log_dirs;
pub mod describe_producers;
pub mod describe_quorum;
pub mod describe_topic_partitions;
mod distinct;
pub mod elect_leaders;
pub mod error;
mod error_codes;
pub mod fetch;
pub mod find_coordinator;
pub mod get_telemetry_subscriptions;
mod group_text;
pub mod heartbeat;
pub mod incremental_alter_configs;
pub mod init_producer_id;
mod internal_topic;
pub mod join_group;
pub mod leave_group;
pub mod list_config_resources;
pub mod list_groups;
pub mod list_offsets;
pub mod list_partition_reassignments;
pub mod metadata;
mod metadata_change;
mod mutations;
pub mod offset_commit;
pub mod offset_delete;
pub mod offset_fetch;
pub mod offset_for_leader_epoch;
mod outcome;
pub mod produce;
pub mod push_telemetry;
mod reachable;
mod refusal;
mod requests;
pub mod sync_group;
mod telemetry;
#[cfg(test)]
mod test_node;
mod throttle_time;
mod throttling;
pub mod update_features;

use std::{ops::RangeInclusive, sync::Arc};

use bytes::Bytes;
pub use context::{Client, Context, Published, Rooms};
use kafka_protocol::messages::ApiKey;
pub use outcome::{Answer, CloseReason, Outcome, Part};
pub use requests::Requests;
use requests::{Request, decode};
pub use telemetry::{ClientDetails, Telemetry};
pub use throttling::{Busy, Mute, Throttling};

/// An API that Klamm serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Api {
    pub key: ApiKey,
    /// Kafka's name for it.
    pub name: &'static str,
    /// The versions that are answered. What is announced differs for `Produce` alone: see `api_versions`.
    pub versions: RangeInclusive<i16>,
}

/// Makes the table and the `match` from one list, so that they cannot disagree.
macro_rules! apis {
    ($($key:ident => $module:ident,)*) => {
        /// What is served, besides what the documents say: `ApiVersions` and the version check are built from it.
        pub const TABLE: &[Api] = &[
            Api { key: ApiKey::Produce, name: "Produce", versions: produce::VERSIONS },
            Api { key: ApiKey::Fetch, name: "Fetch", versions: fetch::VERSIONS },
            $(Api { key: ApiKey::$key, name: stringify!($key), versions: $module::VERSIONS },)*
        ];

        /// Hands a request, whose version is one of the table's, to its handler.
        fn begin(rooms: &Arc<Rooms>, request: Request, body: Bytes) -> Result<Outcome, CloseReason> {
            let version = request.context.api_version;
            match request.api_key {
                // The call itself fixes the order of what is appended: the next request need not wait for the answer.
                ApiKey::Produce => {
                    let answer = produce::handle(rooms, &request.context, decode(body, version)?);
                    Ok(request.pipelined(answer))
                }
                // Its records are not part of the response value: they are sent from where they are.
                ApiKey::Fetch => {
                    let (rooms, context) = (Arc::clone(rooms), request.context.clone());
                    let body = decode(body, version)?;
                    Ok(request.fetched(async move { fetch::handle(&rooms, &context, body).await }))
                }
                $(ApiKey::$key => {
                    let (rooms, context) = (Arc::clone(rooms), request.context.clone());
                    let body = decode(body, version)?;
                    Ok(request.exclusive(async move {
                        $module::handle(&rooms, &context, body).await
                    }))
                })*
                key => Err(CloseReason::Unserved { key: key as i16, version }),
            }
        }
    };
}

apis! {
    ListOffsets => list_offsets,
    Metadata => metadata,
    OffsetCommit => offset_commit,
    OffsetFetch => offset_fetch,
    FindCoordinator => find_coordinator,
    JoinGroup => join_group,
    Heartbeat => heartbeat,
    LeaveGroup => leave_group,
    SyncGroup => sync_group,
    DescribeGroups => describe_groups,
    ListGroups => list_groups,
    ApiVersions => api_versions,
    CreateTopics => create_topics,
    DeleteTopics => delete_topics,
    DeleteRecords => delete_records,
    InitProducerId => init_producer_id,
    OffsetForLeaderEpoch => offset_for_leader_epoch,
    DescribeConfigs => describe_configs,
    AlterConfigs => alter_configs,
    AlterReplicaLogDirs => alter_replica_log_dirs,
    DescribeLogDirs => describe_log_dirs,
    CreatePartitions => create_partitions,
    DeleteGroups => delete_groups,
    ElectLeaders => elect_leaders,
    IncrementalAlterConfigs => incremental_alter_configs,
    DescribeClientQuotas => describe_client_quotas,
    AlterClientQuotas => alter_client_quotas,
    DescribeQuorum => describe_quorum,
    UpdateFeatures => update_features,
    DescribeCluster => describe_cluster,
    ConsumerGroupHeartbeat => consumer_group_heartbeat,
    ConsumerGroupDescribe => consumer_group_describe,
    GetTelemetrySubscriptions => get_telemetry_subscriptions,
    PushTelemetry => push_telemetry,
    AlterPartitionReassignments => alter_partition_reassignments,
    ListPartitionReassignments => list_partition_reassignments,
    OffsetDelete => offset_delete,
    DescribeProducers => describe_producers,
    ListConfigResources => list_config_resources,
    DescribeTopicPartitions => describe_topic_partitions,
}

/// The table's line for a request; `None` where its key or version is not served.
fn served(key: ApiKey, version: i16) -> Option<&'static Api> {
    TABLE.iter().find(|api| api.key == key && api.versions.contains(&version))
}

#[cfg(test)]
mod tests;
