//! What the requests of all connections together may hold in memory, taken as their bytes arrive.
//!
//! Rule: a length that is only announced takes nothing from others. Half-read requests cannot wait for each other for
//! ever, since one at a time has its turn: it may take all that it still needs, and ends. Small requests have a pool and a
//! turn of their own, so that large ones, even stalled ones, do not hold them up.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Limits, frame_buffers::Buffer};

/// All but `Produce` and the largest commits and metadata requests are smaller.
const SMALL_BYTES: usize = 64 * 1024;
/// The part of the budget that only small requests may take.
const SMALL_PART: usize = 8;

/// A request's share, given back when dropped.
pub(super) struct Held {
    pool: Arc<Pool>,
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
    pub(super) fn with(self, bytes: Buffer) -> Bytes {
        Bytes::from_owner(Holding { bytes, _held: self })
    }

    /// Whether other requests wait for what this one holds.
    pub(super) fn others_wait(&self) -> bool {
        self.pool.waiting.load(Ordering::Relaxed) > 0
    }

    /// Waits until it may be `more` bytes larger.
    pub(super) async fn grow(&mut self, more: usize) {
        if self.turn.is_none() && !self.try_grow(more) {
            let pool = Arc::clone(&self.pool);
            let _waiting = Waiting::count(&pool.waiting);
            let bytes = Arc::clone(&pool.bytes).acquire_many_owned(more as u32);
            let turn = Arc::clone(&pool.turn).acquire_owned();
            tokio::select! {
                biased;
                permit = bytes => self.add(permit.expect("the budget is never closed")),
                turn = turn => self.turn = Some(turn.expect("the budget is never closed")),
            }
        }
        self.bytes += more;
        self.gauge.inc_by(more as i64);
    }

    /// Takes from the pool what nobody waits for.
    fn try_grow(&mut self, more: usize) -> bool {
        let permit = Arc::clone(&self.pool.bytes).try_acquire_many_owned(more as u32);
        permit.map(|it| self.add(it)).is_ok()
    }

    fn add(&mut self, permit: OwnedSemaphorePermit) {
        match &mut self.permit {
            Some(held) => held.merge(permit),
            none => *none = Some(permit),
        }
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

/// The bytes that requests of a class may hold.
struct Pool {
    bytes: Arc<Semaphore>,
    /// For the one request that takes no more from the pool. What it may need is not in the pool.
    turn: Arc<Semaphore>,
    /// Requests that wait for either.
    waiting: AtomicUsize,
}

impl Pool {
    fn new(bytes: usize, longest: usize) -> Arc<Self> {
        let shared = bytes - longest.min(bytes / 2);
        let [bytes, turn] = [shared, 1].map(|it| Arc::new(Semaphore::new(it)));
        Arc::new(Self { bytes, turn, waiting: AtomicUsize::new(0) })
    }
}

/// Counts a request as one that waits until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn count(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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
        let (pool, gauge) = (Arc::clone(pool), self.gauge.clone());
        Held { pool, permit: None, turn: None, gauge, bytes: 0 }
    }
}
