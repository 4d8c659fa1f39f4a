//! Starts, wires and stops all rooms; nothing depends on it.
//!
//! Start: metadata log → addresses bound → registration → plugins → logs → coordinators → listeners → ready. Stop is the way back.

mod listeners;
mod node;
mod plugin_uses;
mod publish;

use tokio::signal::unix::{SignalKind, signal};

use self::node::Node;
use crate::config::Config;

/// Runs a node until SIGTERM or SIGINT, then stops it cleanly.
///
/// # Errors
///
/// What keeps the node from starting, or from ending cleanly.
pub async fn run(config: Config) -> anyhow::Result<()> {
    // By default a file beyond `ulimit -f` ends the process; as a failed write it is an error like a full disk.
    let _too_large = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let node = tokio::select! {
        node = Node::start(config) => node?,
        _ = terminate.recv() => return Ok(()),
        _ = interrupt.recv() => return Ok(()),
    };
    tracing::info!("klamm is ready: {}", node.addresses().join(" "));
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping");
    node.stop().await?;
    tracing::info!("stopped");
    Ok(())
}
