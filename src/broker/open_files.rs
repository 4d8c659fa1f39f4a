//! How many files this process may hold open, and who gets them.
//!
//! | who                                    | of the limit          | where it is held to that          |
//! |----------------------------------------|-----------------------|-----------------------------------|
//! | the node itself                        | [`OWN_FILES`]         |                                   |
//! | connections                            | a third of the rest   | `net::ConnectionQuotas`           |
//! | the answer that each connection is sent | as many              | one at a time                     |
//! | further partitions in such answers     | an eighth             | `replica::HeldOpen`               |
//! | segments that nobody uses at the moment | a quarter            | [`OpenFiles`]: less, as room is needed |
//!
//! Rule: whatever clients do, a log can open what it needs. Answers and idle segments together take no more than the larger of
//! the two, since idle ones are closed for others.

use std::fmt;

use anyhow::bail;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{log::OpenFiles, telemetry::Metrics};

/// With fewer than this many a node could not serve.
const OPEN_FILES_MIN: u64 = 128;

/// What a node takes for itself: listeners, metadata log, checkpoints, plugins, what the runtime needs.
const OWN_FILES: u64 = 48;

/// An open file costs the system memory: more than this many are not kept in store.
const SEGMENT_FILES_MAX: u64 = 65_536;

/// Takes as many as the system allows, and holds the logs to what that leaves them; how many connections it leaves room for.
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
    let open_files = limit_now();
    if open_files < OPEN_FILES_MIN {
        bail!(
            "this process may hold {open_files} files open, and needs at least {OPEN_FILES_MIN}: raise its hard limit \
             (`ulimit -Hn`; LimitNOFILE= of a systemd unit)"
        );
    }
    OpenFiles::of_this_process().set_max(for_segments(open_files));
    Ok(for_connections(open_files))
}

/// `u64::MAX` for no limit.
fn limit_now() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

fn for_connections(open_files: u64) -> usize {
    usize::try_from((open_files - OWN_FILES) / 3).unwrap_or(usize::MAX)
}

fn for_segments(open_files: u64) -> usize {
    usize::try_from((open_files / 4).min(SEGMENT_FILES_MAX)).unwrap_or(usize::MAX)
}

/// Tells how many are open, of whatever kind.
pub(super) fn register(metrics: &Metrics) {
    metrics.register(|it| it.register_collector(Box::new(OpenFilesCollector)));
}

#[derive(Debug)]
struct OpenFilesCollector;

impl Collector for OpenFilesCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let segments = OpenFiles::of_this_process();
        let mut gauge = |name, help, value: u64| {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
        };
        if let Some(open) = OpenFiles::descriptors() {
            gauge("klamm_open_files", "Descriptors that this process holds", open)?;
        }
        let help = "Descriptors that this process may hold";
        gauge("klamm_open_files_max", help, limit_now())?;
        let help = "Files of segments that are open, of all logs";
        gauge("klamm_segment_files_open", help, segments.open() as u64)?;
        let closed = ConstCounter::new(segments.closed_for_room());
        let help = "Files of segments that were closed because others had to be opened";
        closed.encode(encoder.encode_descriptor(
            "klamm_segment_files_closed_for_room",
            help,
            None,
            closed.metric_type(),
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The eighth of `replica::HeldOpen`.
    fn for_answers(open_files: u64) -> u64 {
        open_files / 8
    }

    #[test]
    fn what_clients_may_hold_leaves_files_for_the_logs() {
        for open_files in [OPEN_FILES_MIN, 1_024, 4_096, 1 << 20, u64::MAX] {
            let connections = for_connections(open_files) as u64;
            let held = connections + for_answers(open_files);
            let most = OWN_FILES + connections + held.max(for_segments(open_files) as u64);
            assert!(open_files - most >= open_files / 16, "{open_files}: {most}");
            assert!(connections >= 26);
        }
    }
}
