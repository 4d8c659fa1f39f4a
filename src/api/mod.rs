//! Request handlers: one file an API, named as in the protocol guide.
//!
//! Rule: a handler returns a response value; it never writes to a connection. A partition that fails is data.
//! What `ApiVersions` announces is built from what is served.

pub mod alter_configs;
pub mod api_versions;
mod authorized_operations;
mod config_resource;
mod context;
pub mod create_partitions;
pub mod create_topics;
pub mod delete_groups;
pub mod delete_topics;
pub mod describe_cluster;
pub mod describe_configs;
pub mod describe_groups;
pub mod error;
pub mod fetch;
pub mod find_coordinator;
pub mod heartbeat;
pub mod incremental_alter_configs;
pub mod init_producer_id;
pub mod join_group;
pub mod leave_group;
pub mod list_groups;
pub mod list_offsets;
pub mod metadata;
mod metadata_change;
pub mod offset_commit;
pub mod offset_fetch;
pub mod produce;
mod refusal;
pub mod sync_group;
#[cfg(test)]
mod test_node;

pub use context::{Context, Published, Rooms};
