//! Starts, wires and stops all rooms; nothing depends on it.

use crate::config::Config;

pub async fn run(config: Config) -> anyhow::Result<()> {
    let _ = config;
    todo!()
}
