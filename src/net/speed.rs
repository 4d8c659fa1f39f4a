//! How fast a client sends, by all that it has sent on its connection.
//!
//! Rule: a client that has shown to be fast is believed, one that has shown nothing yet counts as slow.

use std::time::Duration;

/// A client of which nothing is known counts as if it had sent so many bytes in so much time.
const UNKNOWN: Speed = Speed { bytes: 64 * 1024, waited: Duration::from_secs(1) };

/// What lies further back than this counts half.
const REMEMBERED: Duration = Duration::from_secs(10);

/// Bytes of requests, and the time that was waited for them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Speed {
    bytes: u64,
    waited: Duration,
}

impl Speed {
    /// With these bytes too.
    pub(super) fn with(self, bytes: usize, waited: Duration) -> Self {
        Self { bytes: self.bytes.saturating_add(bytes as u64), waited: self.waited + waited }
    }

    /// Keeps a whole request in mind.
    pub(super) fn remember(&mut self, bytes: usize, waited: Duration) {
        *self = self.with(bytes, waited);
        if self.waited > REMEMBERED {
            *self = Self { bytes: self.bytes / 2, waited: self.waited / 2 };
        }
    }

    /// How long so many bytes should take.
    pub(super) fn expected(self, bytes: usize) -> Duration {
        let Self { bytes: sent, waited } = self.with(UNKNOWN.bytes as usize, UNKNOWN.waited);
        let seconds = waited.as_secs_f64() * bytes as f64 / sent as f64;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn who_has_sent_much_soon_is_expected_to_do_so_again() {
        let mut known = Speed::default();
        for _ in 0..100 {
            known.remember(MIB, Duration::from_millis(1));
        }
        let newcomer = Speed::default().with(500 * 1024, Duration::from_millis(1));
        let slow = Speed::default().with(500 * 1024, Duration::from_secs(5));
        let expected = [known, newcomer, slow].map(|it| it.expected(MIB));
        assert!(expected.is_sorted(), "{expected:?}");
        assert!(known.expected(MIB) < known.expected(2 * MIB));
    }

    #[test]
    fn who_was_fast_long_ago_is_so_no_more() {
        let mut speed = Speed::default();
        for _ in 0..100 {
            speed.remember(MIB, Duration::from_millis(1));
        }
        for _ in 0..100 {
            speed.remember(MIB, Duration::from_secs(10));
        }
        assert!(speed.expected(MIB) > Duration::from_secs(5));
        assert_eq!(speed.expected(0), Duration::ZERO);
    }
}
