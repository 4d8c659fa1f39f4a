//! `log.cleaner.io.max.bytes.per.second` and the like: how long is to rest who works in the background. Pure.

use crate::base::TimestampMs;

/// Bytes read and written in the present second. What one second had too many is taken from the next ones.
#[derive(Debug)]
pub(super) struct Throttle {
    bytes_per_second: f64,
    since: TimestampMs,
    bytes: f64,
}

/// No rest is longer, whatever the clock does.
const REST_MAX_MS: f64 = 10_000.0;

impl Throttle {
    pub(super) fn new(bytes_per_second: f64) -> Self {
        Self { bytes_per_second, since: TimestampMs(0), bytes: 0.0 }
    }

    /// From now on; what is owed is paid off at the new rate.
    pub(super) fn set_rate(&mut self, bytes_per_second: f64) {
        self.bytes_per_second = bytes_per_second;
    }

    #[cfg(test)]
    pub(super) fn bytes_per_second(&self) -> f64 {
        self.bytes_per_second
    }

    /// Milliseconds to rest after so many bytes more.
    pub(super) fn spend(&mut self, bytes: usize, now: TimestampMs) -> u64 {
        let earned = now.since(self.since) as f64 * self.bytes_per_second / 1_000.0;
        self.since = now;
        // What was not used is not saved up.
        self.bytes = (self.bytes - earned).max(0.0) + bytes as f64;
        let rest_ms = self.bytes * 1_000.0 / self.bytes_per_second;
        rest_ms.min(REST_MAX_MS) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_makes_up_for_what_was_too_fast() {
        let mut throttle = Throttle::new(1_000.0);
        assert_eq!(throttle.spend(500, TimestampMs(1_000_000)), 500);
        assert_eq!(throttle.spend(500, TimestampMs(1_000_100)), 900);
        assert_eq!(throttle.spend(100, TimestampMs(1_005_000)), 100, "nothing is saved up");
        assert_eq!(throttle.spend(0, TimestampMs(0)), 100, "a clock that stepped back");
        assert_eq!(throttle.spend(1 << 40, TimestampMs(1)), 10_000);
        throttle.set_rate(f64::MAX);
        assert_eq!(throttle.spend(usize::MAX, TimestampMs(2)), 0, "the limit is lifted");
        assert_eq!(Throttle::new(f64::MAX).spend(usize::MAX, TimestampMs(0)), 0);
    }
}
