//! What the room cannot do.

use crate::base::PluginName;

/// A bad plugin is never a reason not to start.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("start the plugin engine: {0}")]
    Engine(String),
    #[error("there is no plugin {0}")]
    Unknown(PluginName),
    #[error("{0} has no earlier version")]
    NoEarlierVersion(PluginName),
}
