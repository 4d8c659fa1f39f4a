//! The timers of one machine, in one heap. A timer is never cancelled: its machine ignores one whose cause is gone.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::base::TimestampMs;

#[derive(Debug)]
pub(crate) struct Timers<K> {
    heap: BinaryHeap<Reverse<(TimestampMs, K)>>,
}

impl<K: Ord> Timers<K> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new() }
    }

    pub(crate) fn arm(&mut self, at: TimestampMs, key: K) {
        self.heap.push(Reverse((at, key)));
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
}
