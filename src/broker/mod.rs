//! Starts, wires and stops all rooms; nothing depends on it.
//!
//! Start: metadata log → addresses bound → registration → plugins → logs → coordinators → listeners → ready. Stop is the way back.

mod cleaners;
mod foundation;
mod listeners;
mod metadata_log;
mod node;
mod open_files;
mod plugin_uses;
mod publish;
mod signals;

use self::node::Node;
pub use self::signals::Signals;
use crate::config::Config;

/// Runs a node until SIGTERM or SIGINT, then stops it cleanly.
///
/// # Errors
///
/// What keeps the node from starting, from going on, or from ending cleanly.
pub async fn run(config: Config, mut signals: Signals) -> anyhow::Result<()> {
    let connections_max = open_files::raise_limit()?;
    let node = tokio::select! {
        node = Node::start(config, connections_max) => node?,
        () = signals.stop() => return Ok(()),
    };
    tracing::info!("klamm is ready: {}", node.addresses().join(" "));
    let failure = tokio::select! {
        () = signals.stop() => None,
        failure = node.failed() => Some(failure),
    };
    tracing::info!("stopping");
    let stopped = node.stop().await;
    if let Some(failure) = failure {
        return Err(failure);
    }
    stopped?;
    tracing::info!("stopped");
    Ok(())
}
