//! Places for connections: `max.connections`.
//!
//! Rule: a connection too many waits, and is served when another one ends. When fewer may be there than are, those that were silent
//! for longest go, as in Kafka.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// All places.
pub(super) struct Slots {
    state: Mutex<State>,
    /// A place may be free.
    freed: Notify,
}

struct State {
    max: usize,
    /// By the connections' ids.
    taken: HashMap<u64, Arc<Seat>>,
}

/// What is known of a connection while it has a place.
pub(super) struct Seat {
    /// Milliseconds on the server's clock.
    last_used: AtomicI64,
    leave: CancellationToken,
    is_excess: AtomicBool,
}

/// One connection's place, free again when this is dropped.
pub(super) struct Slot {
    of: Arc<Slots>,
    id: u64,
    seat: Arc<Seat>,
}

impl Slots {
    pub(super) fn new(max: usize) -> Arc<Self> {
        let state = State { max, taken: HashMap::new() };
        Arc::new(Self { state: Mutex::new(state), freed: Notify::new() })
    }

    /// Waits for a place; `leave` is cancelled when the connection has to go for the sake of `max.connections`.
    pub(super) async fn take(
        self: &Arc<Self>,
        id: u64,
        leave: CancellationToken,
        now: i64,
    ) -> Slot {
        let (last_used, is_excess) = (AtomicI64::new(now), AtomicBool::new(false));
        let seat = Arc::new(Seat { last_used, leave, is_excess });
        loop {
            // Asked for before it is looked, so that no place is missed that is freed meanwhile.
            let freed = self.freed.notified();
            if self.state.lock().seat(id, &seat) {
                return Slot { of: Arc::clone(self), id, seat };
            }
            freed.await;
        }
    }

    pub(super) fn is_full(&self) -> bool {
        let state = self.state.lock();
        state.taken.len() >= state.max
    }

    /// From now on there are so many.
    pub(super) fn set_max(&self, max: usize) {
        let mut state = self.state.lock();
        if state.max != max {
            state.max = max;
            state.clear_excess();
            self.freed.notify_waiters();
        }
    }

    pub(super) fn max(&self) -> usize {
        self.state.lock().max
    }
}

impl State {
    fn seat(&mut self, id: u64, seat: &Arc<Seat>) -> bool {
        let is_free = self.taken.len() < self.max;
        if is_free {
            self.taken.insert(id, Arc::clone(seat));
        }
        is_free
    }

    /// Those that have been told to leave count, and are not there for long.
    fn clear_excess(&self) {
        let mut seats: Vec<(&u64, &Arc<Seat>)> = self.taken.iter().collect();
        // Of those that have asked in the same millisecond the one that came first.
        seats.sort_by_key(|(id, it)| {
            (!it.leave.is_cancelled(), it.last_used.load(Ordering::Relaxed), **id)
        });
        let excess = self.taken.len().saturating_sub(self.max);
        for (_, seat) in seats.into_iter().take(excess) {
            seat.is_excess.store(true, Ordering::Relaxed);
            seat.leave.cancel();
        }
    }
}

impl Seat {
    /// The connection has sent a request.
    pub(super) fn used(&self, now: i64) {
        self.last_used.store(now, Ordering::Relaxed);
    }

    /// Whether the connection had to leave since there were too many.
    pub(super) fn is_excess(&self) -> bool {
        self.is_excess.load(Ordering::Relaxed)
    }
}

impl Slot {
    pub(super) fn seat(&self) -> &Seat {
        &self.seat
    }

    /// Cancelled when the connection has to leave.
    pub(super) fn leave(&self) -> &CancellationToken {
        &self.seat.leave
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.of.state.lock().taken.remove(&self.id);
        self.of.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn take(slots: &Arc<Slots>, id: u64) -> Option<Slot> {
        slots.take(id, CancellationToken::new(), id as i64).now_or_never()
    }

    #[tokio::test]
    async fn who_waits_gets_a_place_when_one_is_free_or_there_are_more() {
        let slots = Slots::new(1);
        let first = take(&slots, 1).unwrap();
        assert!(slots.is_full() && take(&slots, 2).is_none());
        let mut waiting = Box::pin(slots.take(3, CancellationToken::new(), 0));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(first);
        let second = waiting.await;
        let mut waiting = Box::pin(slots.take(4, CancellationToken::new(), 0));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        slots.set_max(2);
        let third = waiting.await;
        drop((second, third));
        assert!(slots.state.lock().taken.is_empty());
    }

    #[test]
    fn those_that_were_silent_for_longest_leave_when_there_are_too_many() {
        let slots = Slots::new(4);
        let taken: Vec<_> = (1..=4).map(|id| take(&slots, id).unwrap()).collect();
        let leaving = || taken.iter().map(|it| it.leave().is_cancelled()).collect::<Vec<_>>();
        taken[0].seat().used(9);
        slots.set_max(3);
        assert_eq!(leaving(), [false, true, false, false]);
        slots.set_max(2);
        assert_eq!(leaving(), [false, true, true, false], "who leaves already counts");
        slots.set_max(4);
        assert_eq!(leaving(), [false, true, true, false]);
        assert!(slots.is_full());
        drop(taken);
        assert!(!slots.is_full());
    }

    #[test]
    fn of_those_that_were_silent_for_as_long_the_first_that_came_leave() {
        let slots = Slots::new(100);
        let taken: Vec<_> = (1..=100).map(|id| take(&slots, id).unwrap()).collect();
        for slot in &taken {
            slot.seat().used(1_000);
        }
        slots.set_max(40);
        let leaving = taken.iter().filter(|it| it.leave().is_cancelled());
        assert!(leaving.map(|it| it.id).eq(1..=60));
    }
}
