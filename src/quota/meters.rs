//! The meters of those who have a quota: a bounded number of them. One that is forgotten begins anew, in its client's favour.

use std::{collections::HashMap, hash::Hash};

use super::{limits::Quota, rate::Rate, token_bucket::TokenBucket};
use crate::config::QuotaWindow;

/// Meters at a time: some megabytes. An honest cluster has fewer clients with quotas.
const METERS_MAX: usize = 10_000;

enum Counter {
    Rate(Rate),
    Tokens(TokenBucket),
}

/// What one client, or those that share its quota, has used.
pub(super) struct Meter {
    counter: Counter,
    window: QuotaWindow,
    last_ms: i64,
}

impl Meter {
    pub(super) fn of(quota: Quota, window: QuotaWindow) -> Self {
        match quota {
            Quota::Produce | Quota::Fetch | Quota::Request => Self::rate(window),
            Quota::ControllerMutation => {
                Self::with(Counter::Tokens(TokenBucket::default()), window)
            }
        }
    }

    pub(super) fn rate(window: QuotaWindow) -> Self {
        Self::with(Counter::Rate(Rate::default()), window)
    }

    fn with(counter: Counter, window: QuotaWindow) -> Self {
        Self { counter, window, last_ms: i64::MIN }
    }

    pub(super) fn record(&mut self, amount: f64, bound: f64, now_ms: i64) {
        match &mut self.counter {
            Counter::Rate(it) => it.record(amount, self.window, now_ms),
            Counter::Tokens(it) => it.record(amount, bound, self.window, now_ms),
        }
    }

    pub(super) fn throttle_ms(&mut self, bound: f64, now_ms: i64) -> u32 {
        match &mut self.counter {
            Counter::Rate(it) => it.throttle_ms(bound, self.window, now_ms),
            Counter::Tokens(it) => it.throttle_ms(bound, self.window, now_ms),
        }
    }

    /// Nobody is held back for longer than a window, as Kafka has it for what is not counted in bytes.
    pub(super) fn bounded_throttle_ms(&mut self, bound: f64, now_ms: i64) -> u32 {
        let window_ms = u32::try_from(self.window.size_ms()).unwrap_or(u32::MAX);
        self.throttle_ms(bound, now_ms).min(window_ms)
    }
}

/// Meters by whom they are of.
pub(super) struct Meters<K>(HashMap<K, Meter>);

impl<K> Default for Meters<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash> Meters<K> {
    /// The meter of a key, new if need be.
    pub(super) fn meter(&mut self, key: K, new: impl FnOnce() -> Meter, now_ms: i64) -> &mut Meter {
        if self.0.len() >= METERS_MAX && !self.0.contains_key(&key) {
            self.forget_older_half();
        }
        let meter = self.0.entry(key).or_insert_with(new);
        meter.last_ms = now_ms;
        meter
    }

    /// Half at a time, so that it is seldom done.
    fn forget_older_half(&mut self) {
        let mut used: Vec<i64> = self.0.values().map(|it| it.last_ms).collect();
        let middle = used.len() / 2;
        let (_, &mut median, _) = used.select_nth_unstable(middle);
        let mut to_forget = middle;
        self.0.retain(|_, it| {
            let is_old = it.last_ms <= median && to_forget > 0;
            to_forget -= usize::from(is_old);
            !is_old
        });
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
