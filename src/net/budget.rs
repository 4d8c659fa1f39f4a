//! What the requests of all connections together may hold in memory, taken as their bytes arrive.
//!
//! Rule: a length that is only announced takes nothing from others. Half-read requests cannot wait for each other for
//! ever, since one at a time has its turn: it may take all that it still needs, and ends. Small requests have a pool of
//! their own, so that large ones, even stalled ones, do not hold them up.

use std::sync::Arc;

use bytes::Bytes;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Limits;

/// All but `Produce` and the largest commits and metadata requests are smaller.
const SMALL_BYTES: usize = 64 * 1024;
/// The part of the budget that only small requests may take.
const SMALL_PART: usize = 8;

/// A request's share, given back when dropped.
pub(super) struct Held {
    is_small: bool,
    permit: Option<OwnedSemaphorePermit>,
    turn: Option<OwnedSemaphorePermit>,
    gauge: Gauge,
    bytes: usize,
}

impl Held {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The request's bytes, whose last slice gives the share back when it is dropped: a member that waits for its group
    /// needs none of its request any more.
    pub(super) fn with(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Holding { bytes, _held: self })
    }

    fn add(&mut self, permit: OwnedSemaphorePermit) {
        match &mut self.permit {
            Some(held) => held.merge(permit),
            none => *none = Some(permit),
        }
    }
}

struct Holding {
    bytes: Bytes,
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
#[derive(Clone)]
pub(super) struct Budget {
    pool: Arc<Semaphore>,
    small: Arc<Semaphore>,
    /// For the one request that takes no more from the pool. What it may need is not in the pool.
    turn: Arc<Semaphore>,
    gauge: Gauge,
}

impl Budget {
    pub(super) fn new(limits: &Limits, gauge: Gauge) -> Self {
        let max = limits.inflight_max_bytes;
        let small = max / SMALL_PART;
        let pool = max - small - limits.request_max_bytes.min(max / 2);
        let [pool, small, turn] = [pool, small, 1].map(|it| Arc::new(Semaphore::new(it)));
        Self { pool, small, turn, gauge }
    }

    /// For a request of `length` bytes of which nothing has arrived.
    pub(super) fn begin(&self, length: usize) -> Held {
        let is_small = length <= SMALL_BYTES;
        Held { is_small, permit: None, turn: None, gauge: self.gauge.clone(), bytes: 0 }
    }

    /// Waits until `held` may be `more` bytes larger.
    pub(super) async fn grow(&self, held: &mut Held, more: usize) {
        if held.turn.is_none() {
            let pool = if held.is_small { &self.small } else { &self.pool };
            let pool = Arc::clone(pool).acquire_many_owned(more as u32);
            let turn = Arc::clone(&self.turn).acquire_owned();
            tokio::select! {
                biased;
                permit = pool => held.add(permit.expect("the budget is never closed")),
                turn = turn => held.turn = Some(turn.expect("the budget is never closed")),
            }
        }
        held.bytes += more;
        self.gauge.inc_by(more as i64);
    }
}
