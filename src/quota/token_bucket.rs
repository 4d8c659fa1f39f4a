//! Tokens that come at a steady rate and are spent in bursts (KIP-599). It may be overdrawn once; then it has to fill up to zero.

use crate::config::QuotaWindow;

/// Full at first.
#[derive(Default)]
pub(super) struct TokenBucket {
    /// With the time that they were counted at; `None` before the first use.
    tokens: Option<(f64, i64)>,
}

impl TokenBucket {
    /// Spends tokens; a negative amount gives some back.
    pub(super) fn record(&mut self, amount: f64, bound: f64, window: QuotaWindow, now_ms: i64) {
        let tokens = self.tokens(bound, window, now_ms) - amount;
        self.tokens = Some((tokens.min(burst(bound, window)), now_ms));
    }

    /// How long it takes to fill up to zero.
    pub(super) fn throttle_ms(&self, bound: f64, window: QuotaWindow, now_ms: i64) -> u32 {
        let missing = -self.tokens(bound, window, now_ms);
        (missing / bound * 1000.0).round().clamp(0.0, f64::from(i32::MAX)) as u32
    }

    fn tokens(&self, bound: f64, window: QuotaWindow, now_ms: i64) -> f64 {
        let burst = burst(bound, window);
        self.tokens.map_or(burst, |(tokens, at_ms)| {
            let elapsed_ms = (now_ms - at_ms).max(0) as f64;
            (tokens + bound * elapsed_ms / 1000.0).min(burst)
        })
    }
}

fn burst(bound: f64, window: QuotaWindow) -> f64 {
    bound * f64::from(window.num) * f64::from(window.size_seconds)
}
