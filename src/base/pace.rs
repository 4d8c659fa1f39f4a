//! How often a line is told that the same cause would repeat with every request.

use std::sync::atomic::{AtomicI64, Ordering};

use super::TimestampMs;

/// One line in so many milliseconds is enough to act.
const INTERVAL_MS: i64 = 10_000;

/// When a line was told last, in milliseconds; 0: never.
#[derive(Debug, Default)]
pub struct Pace(AtomicI64);

impl Pace {
    /// Whether to tell it again; counts as told then.
    pub fn is_due(&self, now: TimestampMs) -> bool {
        let told_at = self.0.load(Ordering::Relaxed);
        // Also after the clock was set back.
        let is_recent = (0..INTERVAL_MS).contains(&now.0.saturating_sub(told_at));
        let is_due = told_at == 0 || !is_recent;
        if is_due {
            self.0.store(now.0, Ordering::Relaxed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_at_once_and_then_now_and_then() {
        let pace = Pace::default();
        let told = [5, 6, 10_004, 10_005, 10_006, 3, 4].map(|at| pace.is_due(TimestampMs(at)));
        assert_eq!(told, [true, false, false, true, false, true, false]);
    }
}
