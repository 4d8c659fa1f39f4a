//! Decides on changes of the cluster's metadata: topics, configs, brokers, producer ids. Pure: it reads an image
//! and returns records; `quorum` logs them.
//!
//! Rule: ids, epochs' sources and what is known of plugins arrive as arguments. A request for several things is one decision,
//! in which each has a result of its own; Kafka does likewise.

mod brokers;
mod client_quotas;
mod configs;
mod error;
mod features;
mod internal_topics;
mod placement;
mod plugins;
mod producer_ids;
mod reassignment;
mod topic_name;
mod topics;
mod transforms;

pub use brokers::{Registration, register_broker};
pub use client_quotas::{QuotaAlteration, alter_client_quotas};
pub use configs::{ConfigChange, ConfigOp, alter_configs, replace_configs};
pub use error::ControllerError;
pub use features::{FeatureUpdate, UpdateKind, update_features};
pub use internal_topics::{ALERTS_TOPIC, OFFSETS_TOPIC, alerts_topic, offsets_topic};
pub use plugins::LoadedPlugins;
pub use producer_ids::allocate_producer_ids;
pub use reassignment::{ElectionType, elect_leader, reassign};
pub use topic_name::validate_topic_name;
pub use topics::{
    CreatedTopic, MorePartitions, NewTopic, TopicDefaults, create_partitions, create_topics,
    delete_topics,
};
pub use transforms::added_transforms;
