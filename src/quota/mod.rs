//! How much a client may ask for, and how long it is held back (KIP-13, KIP-124, KIP-219, KIP-599), and who may connect how often
//! (KIP-612): limits from the metadata, meters of what was asked. It is given the time.
//!
//! Rule: who has no quota costs nothing, and what is remembered of those who have is bounded however many client ids or addresses
//! they invent.

mod connection_rates;
mod limits;
mod meters;
mod rate;
mod token_bucket;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

pub use self::{connection_rates::ConnectionRates, limits::Quota};
use self::{
    limits::{Limits, MeterKey},
    meters::{Meter, Meters},
};
use crate::{
    config::{QuotaConfig, QuotaWindow},
    metadata::MetadataImage,
};

/// The quotas of all clients and what they have used.
pub struct ClientQuotas {
    config: QuotaConfig,
    limits: ArcSwap<Limits>,
    /// Of `limits`, apart since it is asked for all the time.
    has_request: AtomicBool,
    meters: Mutex<Meters<MeterKey>>,
}

impl ClientQuotas {
    pub fn new(config: &QuotaConfig) -> Self {
        Self {
            config: config.clone(),
            limits: ArcSwap::default(),
            has_request: AtomicBool::new(false),
            meters: Mutex::default(),
        }
    }

    /// Takes the limits of an image.
    pub fn apply(&self, image: &MetadataImage) {
        if !self.limits.load().are_of(image) {
            let limits = Limits::of(image);
            self.has_request.store(limits.has(Quota::Request), Ordering::Relaxed);
            self.limits.store(Arc::new(limits));
        }
    }

    /// Whether anyone has a quota.
    pub fn is_active(&self) -> bool {
        !self.limits.load().is_empty()
    }

    /// Whether anyone has a quota of the time that requests take.
    pub fn has_request(&self) -> bool {
        self.has_request.load(Ordering::Relaxed)
    }

    /// Counts `amount` and returns for how many milliseconds the client is to be held back, which brings it down to its quota, or
    /// as near as Kafka allows.
    pub fn record(
        &self,
        quota: Quota,
        user: &str,
        client_id: &str,
        amount: f64,
        now_ms: i64,
    ) -> u32 {
        self.with_meter(quota, user, client_id, now_ms, |meter, bound| {
            meter.record(amount, bound, now_ms);
            match quota {
                Quota::Request => meter.bounded_throttle_ms(bound, now_ms),
                Quota::Produce | Quota::Fetch | Quota::ControllerMutation => {
                    meter.throttle_ms(bound, now_ms)
                }
            }
        })
        .unwrap_or(0)
    }

    /// Counts `amount` unless the quota is used up already.
    ///
    /// # Errors
    ///
    /// For how many milliseconds the client has to wait; nothing was counted.
    pub fn try_record(
        &self,
        quota: Quota,
        user: &str,
        client_id: &str,
        amount: f64,
        now_ms: i64,
    ) -> Result<(), u32> {
        let tried = self.with_meter(quota, user, client_id, now_ms, |meter, bound| {
            match meter.throttle_ms(bound, now_ms) {
                0 => {
                    meter.record(amount, bound, now_ms);
                    Ok(())
                }
                wait => Err(wait),
            }
        });
        tried.unwrap_or(Ok(()))
    }

    /// Counts `amount` unless it would bring the client above its quota. What is more than [`Self::burst`] would do so at any
    /// time, and passes while the client is not above it already; then it has to wait for it afterwards.
    ///
    /// # Errors
    ///
    /// For how many milliseconds the client has to wait; nothing was counted.
    pub fn admit(
        &self,
        quota: Quota,
        user: &str,
        client_id: &str,
        amount: f64,
        now_ms: i64,
    ) -> Result<u32, u32> {
        let burst = self.burst(quota, user, client_id).unwrap_or(f64::INFINITY);
        let tried = self.with_meter(quota, user, client_id, now_ms, |meter, bound| {
            let is_above = meter.throttle_ms(bound, now_ms) > 0;
            meter.record(amount, bound, now_ms);
            let wait = meter.throttle_ms(bound, now_ms);
            if wait == 0 || (!is_above && amount > burst) {
                return Ok(wait);
            }
            meter.record(-amount, bound, now_ms);
            Err(wait)
        });
        tried.unwrap_or(Ok(0))
    }

    /// The most that a client can ask for at once without being held back for certain; `None` where it has no quota.
    pub fn burst(&self, quota: Quota, user: &str, client_id: &str) -> Option<f64> {
        let (_, bound) = self.limits.load().find(quota, user, client_id)?;
        let window = self.window(quota);
        let whole = window.num.saturating_sub(1).max(1);
        Some(bound * f64::from(whole) * f64::from(window.size_seconds))
    }

    fn window(&self, quota: Quota) -> QuotaWindow {
        match quota {
            Quota::Produce | Quota::Fetch | Quota::Request => self.config.window,
            Quota::ControllerMutation => self.config.controller_window,
        }
    }

    fn with_meter<T>(
        &self,
        quota: Quota,
        user: &str,
        client_id: &str,
        now_ms: i64,
        act: impl FnOnce(&mut Meter, f64) -> T,
    ) -> Option<T> {
        let (key, bound) = self.limits.load().find(quota, user, client_id)?;
        let mut meters = self.meters.lock();
        let meter = meters.meter(key, || Meter::of(quota, self.window(quota)), now_ms);
        Some(act(meter, bound))
    }
}

#[cfg(test)]
mod tests;
