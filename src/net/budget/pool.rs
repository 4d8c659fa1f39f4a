//! The bytes that requests of a class may hold, and who gets them next.
//!
//! Rule: whoever waits has bytes to put there, and the one that should be through soonest goes first. Nobody waits for
//! ever: the oldest has the turn, in which a request takes all that it still needs from outside of the pool.
//!
//! ```text
//! shared   taken step by step as bytes arrive: half-read requests may fill it
//! whole    taken for all that is missing: whoever gets it waits no more, so half-read requests never fill it
//! turn     one at a time, in the order of asking
//! ```

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Room for bytes, free or taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    shared: usize,
    whole: usize,
    turns: usize,
}

impl Room {
    fn add(&mut self, more: Self) {
        self.shared += more.shared;
        self.whole += more.whole;
        self.turns += more.turns;
    }

    fn subtract(&mut self, less: Self) {
        self.shared -= less.shared;
        self.whole -= less.whole;
        self.turns -= less.turns;
    }
}

/// What a request that waits asks for.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct Ask {
    /// Bytes to take next.
    pub(in crate::net) step: usize,
    /// All bytes that it lacks.
    pub(in crate::net) rest: usize,
    /// How long these should take to arrive.
    pub(in crate::net) expected: Duration,
}

/// Who waits, by the order of asking, and what is free.
#[derive(Default)]
struct State {
    free: Room,
    whole_max: usize,
    waiting: BTreeMap<u64, Waiter>,
    next_key: u64,
}

struct Waiter {
    ask: Ask,
    reply: oneshot::Sender<Share>,
}

impl State {
    /// Takes what is to be given next, and to whom.
    fn next(&mut self) -> Option<(Waiter, Room)> {
        let (key, room) = self.choose()?;
        self.free.subtract(room);
        Some((self.waiting.remove(&key)?, room))
    }

    fn choose(&self) -> Option<(u64, Room)> {
        let free = &self.free;
        let (key, ask) = self.soonest(usize::MAX)?;
        if ask.step <= free.shared {
            return Some((key, Room { shared: ask.step, ..Room::default() }));
        }
        // Only those that fit: who never will keeps none of them waiting.
        match self.soonest(self.whole_max) {
            Some((key, ask)) if ask.rest <= free.whole => {
                return Some((key, Room { whole: ask.rest, ..Room::default() }));
            }
            _ => {}
        }
        let (&oldest, _) = self.waiting.first_key_value()?;
        (free.turns > 0).then_some((oldest, Room { turns: 1, ..Room::default() }))
    }

    /// Of those that lack no more than so many bytes; the older of two alike.
    fn soonest(&self, rest_max: usize) -> Option<(u64, Ask)> {
        let asked = self.waiting.iter().map(|(&key, it)| (key, it.ask));
        asked.filter(|(_, it)| it.rest <= rest_max).min_by_key(|(_, it)| it.expected)
    }
}

/// A class of requests' bytes.
#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<State>,
    waiting: AtomicUsize,
}

impl Pool {
    /// Of so many bytes in all, the longest request's among them.
    pub(super) fn new(bytes: usize, longest: usize) -> Arc<Self> {
        let pooled = bytes - longest.min(bytes / 2);
        let whole = pooled / 2;
        let free = Room { shared: pooled - whole, whole, turns: 1 };
        let state = State { free, whole_max: whole, ..State::default() };
        Arc::new(Self { state: Mutex::new(state), waiting: AtomicUsize::new(0) })
    }

    /// Whether requests wait for room.
    pub(super) fn is_short(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    pub(super) fn nothing(self: &Arc<Self>) -> Share {
        Share { pool: Arc::clone(self), room: Room::default() }
    }

    fn enter(self: &Arc<Self>, ask: Ask) -> (Place<'_>, oneshot::Receiver<Share>) {
        let (reply, given) = oneshot::channel();
        let mut state = self.state.lock();
        let key = state.next_key;
        state.next_key += 1;
        state.waiting.insert(key, Waiter { ask, reply });
        self.count(&state);
        (Place { pool: self, key }, given)
    }

    fn count(&self, state: &State) {
        self.waiting.store(state.waiting.len(), Ordering::Relaxed);
    }

    /// Gives what is free to those that wait.
    fn give(self: &Arc<Self>) {
        while let Some((waiter, room)) = self.next() {
            // Where the client has just left, what is not taken comes back by itself.
            let _ = waiter.reply.send(Share { pool: Arc::clone(self), room });
        }
    }

    fn next(&self) -> Option<(Waiter, Room)> {
        let mut state = self.state.lock();
        let next = state.next();
        self.count(&state);
        next
    }
}

/// What one request has of a pool, given back when dropped.
pub(super) struct Share {
    pool: Arc<Pool>,
    room: Room,
}

impl Share {
    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Whether its request may take all that it lacks.
    pub(super) fn is_whole(&self) -> bool {
        self.room.whole > 0 || self.room.turns > 0
    }

    /// Takes `bytes` more, if nobody waits and there is room.
    pub(super) fn try_grow(&mut self, bytes: usize) -> bool {
        let more = Room { shared: bytes, ..Room::default() };
        let mut state = self.pool.state.lock();
        let fits = state.waiting.is_empty() && bytes <= state.free.shared;
        if fits {
            state.free.subtract(more);
            self.room.add(more);
        }
        fits
    }

    /// Waits for its turn.
    pub(super) async fn grow(&mut self, ask: Ask) {
        let pool = Arc::clone(&self.pool);
        let (_place, given) = pool.enter(ask);
        pool.give();
        let mut given = given.await.expect("who has a place is answered");
        self.room.add(std::mem::take(&mut given.room));
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.room != Room::default() {
            self.pool.state.lock().free.add(self.room);
            self.pool.give();
        }
    }
}

/// A request's place among those that wait, left when this is dropped.
struct Place<'a> {
    pool: &'a Arc<Pool>,
    key: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock();
        let left = state.waiting.remove(&self.key);
        self.pool.count(&state);
        drop(state);
        // Others may have waited behind it.
        if left.is_some() {
            self.pool.give();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    /// 100 bytes shared, 100 for whole requests, and a turn.
    fn pool() -> Arc<Pool> {
        Pool::new(400, 200)
    }

    fn ask(step: usize, rest: usize, seconds: u64) -> Ask {
        Ask { step, rest, expected: Duration::from_secs(seconds) }
    }

    /// A share with all of the shared bytes, one with all of those for whole requests, one with the turn.
    fn all_taken(pool: &Arc<Pool>) -> [Share; 3] {
        let mut shares = [pool.nothing(), pool.nothing(), pool.nothing()];
        assert!(shares[0].try_grow(100));
        assert!(shares[1].grow(ask(100, 100, 1)).now_or_never().is_some());
        assert!(shares[2].grow(ask(100, 1_000, 1)).now_or_never().is_some());
        assert_eq!(pool.state.lock().free, Room::default());
        shares
    }

    #[test]
    fn room_is_taken_at_once_while_there_is_some_and_nobody_waits() {
        let pool = pool();
        let mut share = pool.nothing();
        assert!(share.try_grow(60) && !share.try_grow(60) && share.try_grow(40));
        assert!(!share.is_whole());
        drop(share);
        assert_eq!(pool.state.lock().free, Room { shared: 100, whole: 100, turns: 1 });
    }

    #[test]
    fn whoever_has_the_whole_of_its_rest_or_the_turn_waits_no_more() {
        let pool = pool();
        let [shared, whole, turn] = all_taken(&pool);
        assert_eq!([shared, whole, turn].map(|it| it.is_whole()), [false, true, true]);
        assert_eq!(pool.state.lock().free, Room { shared: 100, whole: 100, turns: 1 });
    }

    #[tokio::test]
    async fn the_soonest_goes_first_and_the_oldest_has_the_turn() {
        let pool = pool();
        let [shared, whole, turn] = all_taken(&pool);
        let asks = [ask(50, 90, 60), ask(50, 90, 5), ask(50, 90, 1), ask(50, 90, 30)];
        let (done, mut ended) = tokio::sync::mpsc::channel(4);
        for (index, ask) in asks.into_iter().enumerate() {
            let (pool, done) = (Arc::clone(&pool), done.clone());
            let mut share = pool.nothing();
            let mut grow = Box::pin(async move {
                share.grow(ask).await;
                share
            });
            // In this order.
            assert!(futures_util::poll!(&mut grow).is_pending());
            tokio::spawn(async move { done.send((index, grow.await)).await });
        }
        assert!(pool.is_short());
        drop(turn);
        let (oldest, _kept) = ended.recv().await.unwrap();
        assert_eq!(oldest, 0);
        drop(whole);
        let (soonest, _kept) = ended.recv().await.unwrap();
        assert_eq!(soonest, 2);
        drop(shared);
        let mut next = [ended.recv().await.unwrap(), ended.recv().await.unwrap()];
        next.sort_by_key(|it| it.0);
        assert_eq!(next.map(|(index, share)| (index, share.room.shared)), [(1, 50), (3, 50)]);
        assert!(!pool.is_short());
    }

    #[tokio::test]
    async fn who_needs_more_than_ever_is_free_keeps_no_smaller_one_waiting() {
        let pool = pool();
        let [_shared, whole, _turn] = all_taken(&pool);
        let (mut large, mut small) = (pool.nothing(), pool.nothing());
        let mut large = Box::pin(large.grow(ask(80, 800, 0)));
        let mut small_grows = Box::pin(small.grow(ask(80, 80, 9)));
        assert!(futures_util::poll!(&mut large).is_pending());
        assert!(futures_util::poll!(&mut small_grows).is_pending());
        drop(whole);
        small_grows.await;
        assert!(small.is_whole());
        assert!(futures_util::poll!(&mut large).is_pending());
    }

    #[tokio::test]
    async fn who_leaves_takes_nothing_along_and_holds_up_nobody() {
        let pool = pool();
        let shares = all_taken(&pool);
        let (mut leaving, mut staying) = (pool.nothing(), pool.nothing());
        {
            let mut leaves = Box::pin(leaving.grow(ask(100, 100, 0)));
            let mut stays = Box::pin(staying.grow(ask(10, 500, 1)));
            assert!(futures_util::poll!(&mut leaves).is_pending());
            assert!(futures_util::poll!(&mut stays).is_pending());
            // Given, and not taken.
            drop(shares);
            drop(leaves);
            stays.await;
        }
        drop((leaving, staying));
        assert!(!pool.is_short());
        assert_eq!(pool.state.lock().free, Room { shared: 100, whole: 100, turns: 1 });
    }
}
