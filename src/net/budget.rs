//! What the requests of all connections together may hold in memory, taken as their bytes arrive.
//!
//! Rule: a length that is only announced takes nothing from others, and nobody waits for room that it has no bytes for. Small
//! requests have a pool of their own, so that large ones, even stalled ones, do not hold them up.

mod pool;

use std::sync::Arc;

use bytes::Bytes;
use prometheus_client::metrics::gauge::Gauge;

pub(super) use self::pool::Ask;
use self::pool::{Pool, Share};
use super::{Limits, frame_buffers::Buffer};

/// All but `Produce` and the largest commits and metadata requests are smaller.
const SMALL_BYTES: usize = 64 * 1024;
/// The part of the budget that only small requests may take.
const SMALL_PART: usize = 8;

/// A request's share, given back when dropped.
pub(super) struct Held {
    share: Share,
    gauge: Gauge,
    bytes: usize,
}

impl Held {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The request's bytes, whose last slice gives the share back when it is dropped: a member that waits for its group
    /// needs none of its request any more.
    pub(super) fn with(self, bytes: Buffer) -> Bytes {
        Bytes::from_owner(Holding { bytes, _held: self })
    }

    /// Whether other requests wait for what this one holds.
    pub(super) fn others_wait(&self) -> bool {
        self.share.pool().is_short()
    }

    /// Makes it `bytes` larger, if it may be at once.
    pub(super) fn try_grow(&mut self, bytes: usize) -> bool {
        let grown = self.share.is_whole() || self.share.try_grow(bytes);
        if grown {
            self.bytes += bytes;
            self.gauge.inc_by(bytes as i64);
        }
        grown
    }

    /// Waits until it may be a step larger.
    pub(super) async fn grow(&mut self, ask: Ask) {
        self.share.grow(ask).await;
        self.bytes += ask.step;
        self.gauge.inc_by(ask.step as i64);
    }
}

struct Holding {
    bytes: Buffer,
    _held: Held,
}

impl AsRef<[u8]> for Holding {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gauge.dec_by(self.bytes as i64);
    }
}

/// The bytes that may be held.
pub(super) struct Budget {
    small: Arc<Pool>,
    large: Arc<Pool>,
    gauge: Gauge,
}

impl Budget {
    pub(super) fn new(limits: &Limits, gauge: Gauge) -> Self {
        let max = limits.inflight_max_bytes;
        let small = max / SMALL_PART;
        Self {
            small: Pool::new(small, SMALL_BYTES),
            large: Pool::new(max - small, limits.request_max_bytes),
            gauge,
        }
    }

    /// For a request of `length` bytes of which nothing has arrived.
    pub(super) fn begin(&self, length: usize) -> Held {
        let pool = if length <= SMALL_BYTES { &self.small } else { &self.large };
        Held { share: pool.nothing(), gauge: self.gauge.clone(), bytes: 0 }
    }
}
