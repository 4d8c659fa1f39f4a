//! How many files this process may hold open. A log has up to three for each segment in use, a connection has one.
//!
//! Rule: connections never take so many that the logs cannot open theirs.

use anyhow::bail;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A node takes some thirty for itself; with fewer than this many it could not serve.
const OPEN_FILES_MIN: u64 = 128;

/// Takes as many as the system allows; how many connections that leaves room for.
///
/// # Errors
///
/// There are too few to start: a start that ran out of them half way would fail at a place that tells nothing.
pub(super) fn raise_limit() -> anyhow::Result<usize> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "could not raise the limit of open files");
    }
    // `None` is no limit.
    let Some(open_files) = getrlimit(Resource::Nofile).current else { return Ok(usize::MAX) };
    if open_files < OPEN_FILES_MIN {
        bail!(
            "this process may hold {open_files} files open, and needs at least {OPEN_FILES_MIN}: raise its hard limit \
             (`ulimit -Hn`; LimitNOFILE= of a systemd unit)"
        );
    }
    Ok(for_connections(open_files))
}

/// Half of them.
fn for_connections(open_files: u64) -> usize {
    usize::try_from(open_files / 2).unwrap_or(usize::MAX)
}
