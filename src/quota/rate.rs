//! What was used in the last windows, as Kafka's `Rate` over `SampledStat` counts it.

use std::collections::VecDeque;

use crate::config::QuotaWindow;

/// A window's part.
struct Sample {
    start_ms: i64,
    last_ms: i64,
    value: f64,
}

/// Samples, oldest first: the windows that count and the one that began before them and reaches into them.
#[derive(Default)]
pub(super) struct Rate {
    samples: VecDeque<Sample>,
}

impl Rate {
    pub(super) fn record(&mut self, value: f64, window: QuotaWindow, now_ms: i64) {
        self.purge(window, now_ms);
        match self.samples.back_mut() {
            Some(current) if now_ms - current.start_ms < window.size_ms() => {
                current.value += value;
                current.last_ms = now_ms;
            }
            _ => self.samples.push_back(Sample { start_ms: now_ms, last_ms: now_ms, value }),
        }
        // One more than counts, for the one that overlaps.
        while self.samples.len() > window.num as usize + 1 {
            self.samples.pop_front();
        }
    }

    /// For how long nothing may be used so that the rate comes down to `bound` a second: with O used in W, X more such that
    /// O / (W + X) is the bound.
    pub(super) fn throttle_ms(&mut self, bound: f64, window: QuotaWindow, now_ms: i64) -> u32 {
        self.purge(window, now_ms);
        let used: f64 = self.samples.iter().map(|it| it.value).sum();
        let needed_ms = used / bound * 1000.0;
        (needed_ms - self.elapsed_ms(window, now_ms) as f64).round().clamp(0.0, f64::from(i32::MAX))
            as u32
    }

    /// The time that what was used is spread over: at least all windows but the current one, for a first request is no rate.
    fn elapsed_ms(&self, window: QuotaWindow, now_ms: i64) -> i64 {
        let elapsed = self.samples.front().map_or(0, |it| now_ms - it.start_ms);
        let missing = i64::from(window.num) - 1 - elapsed / window.size_ms();
        (elapsed + missing.max(0) * window.size_ms()).max(1)
    }

    fn purge(&mut self, window: QuotaWindow, now_ms: i64) {
        let counts_ms = i64::from(window.num) * window.size_ms();
        while self.samples.front().is_some_and(|it| now_ms - it.last_ms >= counts_ms) {
            self.samples.pop_front();
        }
    }
}
