//! stub
use anyhow::Result;
use std::path::Path;
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Build,
    Check,
}
pub(crate) fn run(_root: &Path, _c: Command) -> Result<()> {
    Ok(())
}
