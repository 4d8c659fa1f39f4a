//! How much a client may ask for, and how long it is held back (KIP-13, KIP-219, KIP-599): limits from the metadata, meters of what
//! was asked. It is given the time.
//!
//! Rule: who has no quota costs nothing, and what is remembered of those who have is bounded however many client ids they invent.

mod limits;
mod meters;
mod rate;
mod token_bucket;

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

pub use self::limits::Quota;
use self::{
    limits::Limits,
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
    meters: Mutex<Meters>,
}

impl ClientQuotas {
    pub fn new(config: &QuotaConfig) -> Self {
        let (limits, meters) = (ArcSwap::default(), Mutex::default());
        Self { config: config.clone(), limits, meters }
    }

    /// Takes the limits of an image.
    pub fn apply(&self, image: &MetadataImage) {
        if !self.limits.load().are_of(image) {
            self.limits.store(Arc::new(Limits::of(image)));
        }
    }

    /// Whether anyone has a quota.
    pub fn is_active(&self) -> bool {
        !self.limits.load().is_empty()
    }

    /// Counts `amount` and returns for how many milliseconds the client is to be held back, which brings it down to its quota.
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
            meter.throttle_ms(bound, now_ms)
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

    /// The most that a client can ask for at once without being held back for certain; `None` where it has no quota.
    pub fn burst(&self, quota: Quota, user: &str, client_id: &str) -> Option<f64> {
        let (_, bound) = self.limits.load().find(quota, user, client_id)?;
        let window = self.window(quota);
        let whole = window.num.saturating_sub(1).max(1);
        Some(bound * f64::from(whole) * f64::from(window.size_seconds))
    }

    fn window(&self, quota: Quota) -> QuotaWindow {
        match quota {
            Quota::Produce | Quota::Fetch => self.config.window,
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
        let meter = meters.meter(key, self.window(quota), now_ms);
        Some(act(meter, bound))
    }
}

#[cfg(test)]
mod tests;
