//! Topic configs: their names, defaults and checks, and the typed values that a partition works with.

use std::collections::BTreeMap;

use super::Config;
use crate::{
    base::{PluginName, TopicName},
    wire::record_batch::{Compression, TimestampType},
};

/// Overrides as a topic carries them, by config name.
pub type TopicConfigs = BTreeMap<String, String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanupPolicy {
    pub delete: bool,
    pub compact: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionerMode {
    Route,
    Guard,
    Observe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformsMode {
    Inline,
    Tail,
}

/// The effective configs of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicConfig {
    pub cleanup_policy: CleanupPolicy,
    /// `None`: as the producer sent it.
    pub compression_type: Option<Compression>,
    pub max_message_bytes: usize,
    pub timestamp_type: TimestampType,
    pub timestamp_before_max_ms: i64,
    pub timestamp_after_max_ms: i64,
    pub min_insync_replicas: i32,
    /// −1: for ever.
    pub retention_ms: i64,
    /// −1: without bound.
    pub retention_bytes: i64,
    pub segment_bytes: u32,
    pub segment_ms: i64,
    pub segment_index_bytes: u32,
    pub index_interval_bytes: u32,
    pub file_delete_delay_ms: u64,
    pub partitioner: Option<PluginName>,
    pub partitioner_mode: PartitionerMode,
    /// In order; empty for none.
    pub transforms: Vec<PluginName>,
    pub transforms_mode: TransformsMode,
}

impl TopicConfig {
    /// The effective configs: the topic's own over the matching pattern's over the node's over Kafka's
    /// defaults. Patterns never apply to internal topics, nor do hooks. Values were checked when they were set;
    /// one that is bad all the same (a file from elsewhere) reads as the default.
    pub fn resolve(config: &Config, topic: &TopicName, own: &TopicConfigs) -> Self {
        let _ = (config, topic, own);
        todo!()
    }

    /// Whether a hook sees this topic's records.
    pub fn has_hooks(&self) -> bool {
        self.partitioner.is_some() || !self.transforms.is_empty()
    }
}

/// Checks one topic config.
///
/// # Errors
///
/// What is wrong, as a person should read it; for an unknown name the nearest known one.
pub fn validate(name: &str, value: &str) -> Result<(), String> {
    let _ = (name, value);
    todo!()
}

/// Reads a node's setting that is the default of a topic config (`log.retention.hours`): the config's name and
/// its value, `None` for another setting.
pub fn read_broker_default(
    key: &str,
    value: &str,
) -> Option<Result<(&'static str, String), String>> {
    let _ = (key, value);
    todo!()
}

/// The settings that [`read_broker_default`] knows.
pub fn broker_default_names() -> impl Iterator<Item = &'static str> {
    std::iter::empty()
}

/// Those settings with their meaning and default, as comments of TOML.
pub fn print_broker_defaults() -> String {
    todo!()
}
