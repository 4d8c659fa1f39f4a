//! Keeps the loaded plugins, watches the folder, and hands out hooks by name.

use std::{path::PathBuf, sync::Arc};

use tokio::sync::watch;

use super::{Assignor, HookKind, Partitioner, PluginStatus, Transform};
use crate::{
    base::PluginName,
    config::{AlertPolicy, PluginConfig},
    telemetry::Metrics,
};

/// A component that the binary carries.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    pub name: &'static str,
    pub wasm: &'static [u8],
}

/// Why the room could not start. A bad plugin is never a reason.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("start the plugin engine: {0}")]
    Engine(String),
}

/// All plugins of a node.
pub struct PluginHost {}

impl PluginHost {
    /// Loads the embedded plugins and the folder's (each failure is a status, not an error), and begins to watch.
    pub async fn start(
        config: &PluginConfig,
        embedded: &[Embedded],
        cache_dir: PathBuf,
        metrics: &Metrics,
    ) -> Result<Arc<Self>, PluginError> {
        let _ = (config, embedded, cache_dir, metrics);
        todo!()
    }

    /// `None` when no plugin of that name and world has ever loaded.
    pub fn partitioner(&self, name: &PluginName) -> Option<Partitioner> {
        let _ = name;
        todo!()
    }

    pub fn assignor(&self, name: &PluginName) -> Option<Assignor> {
        let _ = name;
        todo!()
    }

    pub fn transform(&self, name: &PluginName) -> Option<Transform> {
        let _ = name;
        todo!()
    }

    /// Names that a config may use for a hook, sorted.
    pub fn names(&self, hook: HookKind) -> Vec<PluginName> {
        let _ = hook;
        todo!()
    }

    /// `[alert]` of a transform.
    pub fn alert_policy(&self, name: &PluginName) -> AlertPolicy {
        let _ = name;
        todo!()
    }

    /// All plugins, sorted by name.
    pub fn status(&self) -> Vec<PluginStatus> {
        todo!()
    }

    /// Counts loads and unloads; changes after each.
    pub fn watch(&self) -> watch::Receiver<u64> {
        todo!()
    }

    /// Stops watching and ends the threads.
    pub async fn shutdown(&self) {
        todo!()
    }
}
