//! What a transform found in one record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::{Offset, PluginName, TimestampMs, TopicPartition};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warning,
    Error,
    Critical,
}

impl Severity {
    /// Of the plugin interface's number: 0 info, 1 warning, 2 error, 3 critical.
    pub fn of_plugin(number: u8) -> Self {
        match number {
            0 => Self::Info,
            1 => Self::Warning,
            2 => Self::Error,
            _ => Self::Critical,
        }
    }
}

/// One matching record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The partition that the receiving leader stored the batch in, and the offset there; `None` where
    /// the record was dropped. With `route`: where the record itself was stored.
    pub source: TopicPartition,
    pub offset: Option<Offset>,
    pub plugin: PluginName,
    pub plugin_version: String,
    pub severity: Severity,
    pub title: String,
    /// As the plugin gave it; the machine adds plugin and topic.
    pub fingerprint: String,
    pub labels: BTreeMap<String, String>,
    /// The record's own timestamp.
    pub timestamp: TimestampMs,
}
