//! What people are told of a plugin: `GET /v1/plugins` and `klamm plugin list`.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookKind {
    Partitioner,
    Assignor,
    Transform,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginSource {
    Embedded,
    File,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginState {
    Active,
    Quarantined,
    Failed,
}

/// One plugin (design part 3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginStatus {
    pub name: String,
    /// `None` if it never loaded.
    pub hook: Option<HookKind>,
    pub version: Option<String>,
    /// Lower-case hex, of the file that runs.
    pub sha256: Option<String>,
    pub source: PluginSource,
    pub state: PluginState,
    /// Of the newest load or call; `None` after a good one.
    pub last_error: Option<String>,
}
