//! The meters of those who have a quota: a bounded number of them. One that is forgotten begins anew, in its client's favour.

use std::collections::HashMap;

use super::{
    limits::{MeterKey, Quota},
    rate::Rate,
    token_bucket::TokenBucket,
};
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
    fn new(quota: Quota, window: QuotaWindow, now_ms: i64) -> Self {
        let counter = match quota {
            Quota::Produce | Quota::Fetch => Counter::Rate(Rate::default()),
            Quota::ControllerMutation => Counter::Tokens(TokenBucket::default()),
        };
        Self { counter, window, last_ms: now_ms }
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
}

#[derive(Default)]
pub(super) struct Meters(HashMap<MeterKey, Meter>);

impl Meters {
    /// The meter of a key, new if need be.
    pub(super) fn meter(&mut self, key: MeterKey, window: QuotaWindow, now_ms: i64) -> &mut Meter {
        if self.0.len() >= METERS_MAX && !self.0.contains_key(&key) {
            self.forget_older_half();
        }
        let quota = key.quota;
        let meter = self.0.entry(key).or_insert_with(|| Meter::new(quota, window, now_ms));
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
