//! The timers of one machine, in one heap. A timer is never cancelled: its machine ignores one whose cause is gone, and
//! when there are many of those they are swept out.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::base::TimestampMs;

#[derive(Debug)]
pub(crate) struct Timers<K> {
    heap: BinaryHeap<Reverse<(TimestampMs, K)>>,
    /// Number of timers at which to look for those without a cause.
    sweep_at: usize,
}

/// Fewer timers are never swept.
const SWEEP_MIN: usize = 1_024;

impl<K: Ord> Timers<K> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), sweep_at: SWEEP_MIN }
    }

    pub(crate) fn arm(&mut self, at: TimestampMs, key: K) {
        self.heap.push(Reverse((at, key)));
    }

    /// Removes those that are not awaited any more, once they may be most.
    pub(crate) fn prune(&mut self, is_awaited: impl Fn(&K) -> bool) {
        if self.heap.len() >= self.sweep_at {
            self.heap.retain(|Reverse((_, key))| is_awaited(key));
            self.sweep_at = SWEEP_MIN.max(self.heap.len() * 2);
        }
    }

    pub(crate) fn next(&self) -> Option<TimestampMs> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// The earliest timer if its time has come.
    pub(crate) fn pop_due(&mut self, now: TimestampMs) -> Option<K> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((_, key))| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_in_order_and_not_before_their_time() {
        let mut timers = Timers::new();
        timers.arm(TimestampMs(20), "late");
        timers.arm(TimestampMs(10), "early");
        assert_eq!(timers.next(), Some(TimestampMs(10)));
        assert_eq!(timers.pop_due(TimestampMs(9)), None);
        assert_eq!(timers.pop_due(TimestampMs(20)), Some("early"));
        assert_eq!(timers.pop_due(TimestampMs(20)), Some("late"));
        assert_eq!(timers.pop_due(TimestampMs(99)), None);
    }
    #[test]
    fn timers_without_a_cause_do_not_pile_up() {
        let mut timers = Timers::new();
        for at in 0..100_000 {
            timers.arm(TimestampMs(at), at);
            timers.prune(|it| it % 1_000 == 0);
            assert!(timers.heap.len() <= SWEEP_MIN + 100);
        }
        assert_eq!(timers.next(), Some(TimestampMs(0)));
        let awaited = timers.heap.iter().filter(|Reverse((_, it))| it % 1_000 == 0).count();
        assert_eq!(awaited, 100);
    }
}
