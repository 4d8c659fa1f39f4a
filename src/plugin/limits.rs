//! What a guest may take: time, memory, and bytes of an answer.

use std::time::Duration;

use crate::config::PluginConfig;

/// Records of one call at most; a longer batch is cut.
pub(super) const CALL_RECORDS_MAX: usize = 1_000;

/// Bytes of records of one call at most; one larger record goes alone.
pub(super) const CALL_BYTES_MAX: usize = 256 * 1024;

/// Bytes of a transform's state for a partition.
pub(super) const STATE_BYTES_MAX: usize = 64 * 1024;

/// Elements of a guest's tables: functions that it calls by pointer.
pub(super) const TABLE_ELEMENTS_MAX: usize = 20_000;

/// Longest call that `[limits]` may ask for.
pub(super) const CALL_TIMEOUT_MAX: Duration = Duration::from_mins(1);

/// Longest load that `[limits]` may ask for: JavaScript and Python plugins compile for half a minute.
pub(super) const LOAD_TIMEOUT_MAX: Duration = Duration::from_mins(10);

/// Largest answer that `[limits]` may ask for.
pub(super) const RESULT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The limits of one plugin: the node's, or those of its `[limits]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) call_timeout: Duration,
    /// From the first look at the bytes to the end of the smoke call.
    pub(super) load_timeout: Duration,
    /// Linear memory of one instance.
    pub(super) memory_max_bytes: usize,
    /// Bytes that one answer or one log line may make the host allocate.
    pub(super) result_max_bytes: usize,
    /// Lines a second that reach the broker's log; others are counted.
    pub(super) log_lines_per_second: u32,
}

impl Limits {
    /// The node's own, for a plugin without `[limits]`.
    pub(super) fn of_node(config: &PluginConfig) -> Self {
        Self {
            call_timeout: Duration::from_millis(config.call_timeout_ms),
            load_timeout: Duration::from_millis(config.load_timeout_ms),
            memory_max_bytes: config.memory_max_bytes,
            // Sixteen times the records of a call: room for any sensible rewrite, far under what hurts.
            result_max_bytes: 16 * CALL_BYTES_MAX,
            log_lines_per_second: 100,
        }
    }

    /// How long a call may wait for a thread before it counts as failed.
    pub(super) fn queue_timeout(&self) -> Duration {
        self.call_timeout.saturating_mul(10).max(Duration::from_secs(1))
    }
}
