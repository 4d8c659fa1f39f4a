//! How many files this process may hold open. A log has up to three for each segment in use, a connection has one.
//!
//! Rule: connections never take so many that the logs cannot open theirs.

use anyhow::bail;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Config;

/// A node takes some thirty for itself; with fewer than this many it could not serve.
const OPEN_FILES_MIN: u64 = 128;

/// Takes as many as the system allows, and holds the configuration to what that leaves for connections.
///
/// # Errors
///
/// There are too few to start: a start that ran out of them half way would fail at a place that tells nothing.
pub(super) fn raise_limit(config: &mut Config) -> anyhow::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "could not raise the limit of open files");
    }
    // `None` is no limit.
    let Some(open_files) = getrlimit(Resource::Nofile).current else { return Ok(()) };
    if open_files < OPEN_FILES_MIN {
        bail!(
            "this process may hold {open_files} files open, and needs at least {OPEN_FILES_MIN}: raise its hard limit \
             (`ulimit -Hn`; LimitNOFILE= of a systemd unit)"
        );
    }
    let connections_max = &mut config.net.max_connections;
    *connections_max = (*connections_max).min(for_connections(open_files));
    Ok(())
}

/// Half of them.
fn for_connections(open_files: u64) -> usize {
    usize::try_from(open_files / 2).unwrap_or(usize::MAX)
}
