//! What a guest's memory may be, and the sum of it over all guests of a plugin.

use prometheus_client::metrics::gauge::Gauge;
use wasmtime::{ResourceLimiter, Result};

use super::limits::TABLE_ELEMENTS_MAX;

/// Bytes of linear memory of all guests of a plugin.
pub(super) type MemoryGauge = Gauge;

/// The reason of a trap for memory.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("wanted {wanted} bytes of memory, may have {max}")]
pub(super) struct MemoryDenied {
    wanted: usize,
    max: usize,
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
