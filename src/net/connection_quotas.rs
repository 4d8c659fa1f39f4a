//! Who may connect: how many at a time and how often, as Kafka's `ConnectionQuotas` has it (KIP-612).
//!
//! Rule: who may not is closed, or waits on its listener; it never takes a place from those who are there.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::{
    per_ip::{PerIp, Place},
    slots::{Slot, Slots},
};
use crate::{
    config::{Config, NetConfig},
    metadata::MetadataImage,
    quota::ConnectionRates,
};

/// Connections that are refused for their address's rate are kept for a while, so that their clients do not come again at once.
const KEPT_MAX: usize = 1_000;

/// Each has a file open: there are no more of them than this part of the connections that the system has room for.
const KEPT_SHARE: usize = 16;

/// The limits of all listeners together, and what they have let in.
pub struct ConnectionQuotas {
    slots: Arc<Slots>,
    per_ip: Arc<PerIp>,
    rates: Mutex<ConnectionRates>,
    /// Whatever is set, the system has no room for more connections.
    connections_max: usize,
    /// Room for those that are kept until they are closed.
    kept: Arc<Semaphore>,
    started: Instant,
}

/// What a connection holds while it is there.
pub(super) struct Admitted {
    pub(super) slot: Slot,
    _place: Place,
}

/// Why a connection is not served.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its address has all that it may.
    TooMany,
    /// Its address makes them too often: it is to be closed after this time.
    TooOften(Duration),
}

impl ConnectionQuotas {
    /// `connections_max`: as many as the system has room for.
    pub fn new(config: &Config, connections_max: usize) -> Arc<Self> {
        let quotas = Self {
            slots: Slots::new(connections_max),
            per_ip: PerIp::new(usize::MAX, &[]),
            rates: Mutex::new(ConnectionRates::new(config.quota.window)),
            connections_max,
            kept: Arc::new(Semaphore::new(KEPT_MAX.min(connections_max / KEPT_SHARE))),
            started: Instant::now(),
        };
        quotas.set(&config.net);
        Arc::new(quotas)
    }

    /// Takes the settings as they are now, and the quotas of addresses.
    pub fn apply(&self, net: &NetConfig, image: &MetadataImage) {
        self.set(net);
        self.rates.lock().apply(image);
    }

    fn set(&self, net: &NetConfig) {
        self.slots.set_max(net.max_connections.min(self.connections_max));
        self.per_ip.set_max(net.max_connections_per_ip, &net.max_connections_per_ip_overrides);
        self.rates.lock().set_max(net.max_connection_creation_rate);
    }

    /// Room for a connection that is kept for a while before it is closed; `None`: it is to be closed at once.
    pub(super) fn keep(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.kept).try_acquire_owned().ok()
    }

    pub(super) fn is_full(&self) -> bool {
        self.slots.is_full()
    }

    pub(super) fn max(&self) -> usize {
        self.slots.max()
    }

    /// Milliseconds on a clock that never steps back.
    pub(super) fn now_ms(&self) -> i64 {
        self.started.elapsed().as_millis() as i64
    }

    /// How long the listener of a new connection waits before it serves it, for the sake of `max.connection.creation.rate`.
    pub(super) fn delay(&self) -> Duration {
        let ms = self.rates.lock().record(self.now_ms());
        Duration::from_millis(ms.into())
    }

    /// Waits for `delay` and for a place; then it is seen whether the address may have one. `leave` is cancelled when the
    /// connection has to leave it.
    pub(super) async fn admit(
        &self,
        connection_id: u64,
        ip: IpAddr,
        delay: Duration,
        leave: CancellationToken,
    ) -> Result<Admitted, Refused> {
        // Even a sleep of no time waits for the timer's next tick, and others wait behind this one.
        if !delay.is_zero() {
            sleep(delay).await;
        }
        let slot = self.slots.take(connection_id, leave, self.now_ms()).await;
        let admitted = self.rates.lock().admit(ip, self.now_ms());
        admitted.map_err(|ms| Refused::TooOften(Duration::from_millis(ms.into())))?;
        let place = self.per_ip.enter(ip).ok_or(Refused::TooMany)?;
        Ok(Admitted { slot, _place: place })
    }
}
