//! What a guest may take: time, memory, and bytes of an answer.

use std::time::Duration;

use wasmtime::{ResourceLimiter, Result};

use super::{log_import::GuestLog, metrics::MemoryGauge};
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

/// The reason of a trap for memory.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("wanted {wanted} bytes of memory, may have {max}")]
pub(super) struct MemoryDenied {
    wanted: usize,
    max: usize,
}

/// What the host keeps for a guest.
pub(super) struct GuestState {
    pub(super) memory: MemoryLimit,
    pub(super) log: GuestLog,
}

/// Refuses memory beyond the limit by a trap, and keeps the sum of all guests of a plugin.
pub(super) struct MemoryLimit {
    max_bytes: usize,
    held_bytes: usize,
    /// Of all guests of the plugin.
    total: MemoryGauge,
}

impl MemoryLimit {
    pub(super) fn new(max_bytes: usize, total: MemoryGauge) -> Self {
        Self { max_bytes, held_bytes: 0, total }
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> Result<bool> {
        let wanted = self.held_bytes.saturating_sub(current).saturating_add(desired);
        if wanted > self.max_bytes {
            return Err(wasmtime::Error::new(MemoryDenied { wanted, max: self.max_bytes }));
        }
        self.total.inc_by(wanted as i64 - self.held_bytes as i64);
        self.held_bytes = wanted;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> Result<bool> {
        Ok(desired <= TABLE_ELEMENTS_MAX)
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        self.total.dec_by(self.held_bytes as i64);
    }
}
