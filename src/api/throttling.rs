//! Holding clients to their quotas as KIP-219 says: the answer leaves at once and tells how long, and the connection is read no
//! further for that long.
//!
//! Users are not told apart yet: every client is Kafka's `ANONYMOUS`.

use std::{fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use prometheus_client::metrics::{counter::Counter, family::Family};
use tokio::time::{Instant, sleep_until};

use super::Client;
use crate::{
    config::QuotaConfig,
    metadata::MetadataImage,
    quota::{ClientQuotas, Quota},
    telemetry::Metrics,
};

/// The user of a connection without authentication.
const ANONYMOUS: &str = "ANONYMOUS";

/// The quotas of all clients, with the clock that they are counted by.
pub struct Throttling {
    quotas: ClientQuotas,
    started: Instant,
    throttled: Family<[(&'static str, &'static str); 1], Counter>,
}

impl Throttling {
    pub fn new(config: &QuotaConfig, metrics: &Metrics) -> Self {
        let throttled = Family::default();
        metrics.register(|it| {
            let help = "Requests whose clients were held back, by the quota that they were above";
            it.register("klamm_throttled_requests", help, throttled.clone());
        });
        Self { quotas: ClientQuotas::new(config), started: Instant::now(), throttled }
    }

    /// Takes the limits of an image.
    pub fn apply(&self, image: &MetadataImage) {
        self.quotas.apply(image);
    }

    /// What a request of a client is held to; `None` while nobody has a quota.
    pub(super) fn of(
        self: &Arc<Self>,
        client: &Client,
        client_id: &Arc<str>,
        request_bytes: usize,
    ) -> Option<Arc<ClientThrottle>> {
        self.quotas.is_active().then(|| {
            Arc::new(ClientThrottle {
                throttling: Arc::clone(self),
                client_id: Arc::clone(client_id),
                request_bytes,
                mute: client.mute.clone(),
            })
        })
    }

    /// Never steps back, whoever sets the clock.
    fn now_ms(&self) -> i64 {
        self.started.elapsed().as_millis() as i64
    }
}

/// A request's client and its quotas.
pub struct ClientThrottle {
    throttling: Arc<Throttling>,
    client_id: Arc<str>,
    request_bytes: usize,
    mute: Mute,
}

impl fmt::Debug for ClientThrottle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientThrottle").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

impl ClientThrottle {
    /// Counts the request as records that came in; the `throttle_time_ms` of its answer.
    pub(super) fn produced(&self) -> i32 {
        self.count(Quota::Produce, self.request_bytes as f64)
    }

    /// Counts records that go out; the `throttle_time_ms` of their answer.
    pub(super) fn fetched(&self, bytes: usize) -> i32 {
        self.count(Quota::Fetch, bytes as f64)
    }

    /// What one fetch may bring: more would have to be waited for longer than what is used is remembered.
    pub(super) fn fetch_bytes_max(&self) -> usize {
        let burst = self.throttling.quotas.burst(Quota::Fetch, ANONYMOUS, &self.client_id);
        burst.map_or(usize::MAX, |it| it as usize)
    }

    /// Counts partitions made or deleted, whatever the quota; the `throttle_time_ms` of the answer.
    pub(super) fn mutated(&self, partitions: f64) -> i32 {
        self.count(Quota::ControllerMutation, partitions)
    }

    /// Takes back what was counted and not made after all.
    pub(super) fn unmutated(&self, partitions: f64) {
        let (throttling, quota) = (&self.throttling, Quota::ControllerMutation);
        let now_ms = throttling.now_ms();
        throttling.quotas.record(quota, ANONYMOUS, &self.client_id, -partitions, now_ms);
    }

    /// Counts them if the quota is not used up.
    ///
    /// # Errors
    ///
    /// The `throttle_time_ms` of the answer.
    pub(super) fn mutate(&self, partitions: f64) -> Result<(), i32> {
        let (throttling, quota) = (&self.throttling, Quota::ControllerMutation);
        let now_ms = throttling.now_ms();
        let tried =
            throttling.quotas.try_record(quota, ANONYMOUS, &self.client_id, partitions, now_ms);
        tried.map_err(|ms| self.hold_back(quota, ms))
    }

    fn count(&self, quota: Quota, amount: f64) -> i32 {
        let throttling = &self.throttling;
        let now_ms = throttling.now_ms();
        let ms = throttling.quotas.record(quota, ANONYMOUS, &self.client_id, amount, now_ms);
        self.hold_back(quota, ms)
    }

    fn hold_back(&self, quota: Quota, ms: u32) -> i32 {
        if ms > 0 {
            self.throttling.throttled.get_or_create(&[("quota", quota.key())]).inc();
            self.mute.hold(Duration::from_millis(ms.into()));
        }
        ms as i32
    }
}

/// Until when a connection is not read.
#[derive(Clone, Debug, Default)]
pub struct Mute(Arc<Mutex<Option<Instant>>>);

impl Mute {
    /// For so long from now on, or longer if it was held before.
    pub(crate) fn hold(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut held = self.0.lock();
        *held = Some(held.map_or(until, |it| it.max(until)));
    }

    /// Waits until the connection may be read.
    pub async fn passed(&self) {
        loop {
            // Copied, so that it is not locked while this waits.
            let until = *self.0.lock();
            match until {
                Some(until) if until > Instant::now() => sleep_until(until).await,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::{
        config::Config,
        metadata::{MetadataRecord, QuotaEntityType, QuotaValue},
    };

    fn client() -> Client {
        Client {
            host: [127, 0, 0, 1].into(),
            connection_id: 1,
            listener: "PLAINTEXT".into(),
            mute: Mute::default(),
            details: Arc::default(),
        }
    }

    #[tokio::test]
    async fn a_client_above_its_quota_is_told_for_how_long_and_muted_and_others_are_not() {
        let config = Config::default().quota;
        let throttling = Arc::new(Throttling::new(&config, &Metrics::default()));
        let (client, other) = (client(), client());
        assert!(throttling.of(&client, &"app".into(), 1).is_none());

        let mut image = MetadataImage::default();
        image.replay(&MetadataRecord::ClientQuota {
            entity: [(QuotaEntityType::User, Some(ANONYMOUS.into()))].into(),
            key: "producer_byte_rate".into(),
            value: Some(QuotaValue(1.0)),
        });
        throttling.apply(&image);
        let request = |of, bytes| throttling.of(of, &"app".into(), bytes).unwrap();
        let is_muted = |it: &Client| it.mute.passed().now_or_never().is_none();
        assert_eq!(request(&client, 10).produced(), 0);
        assert_eq!(request(&client, 5).fetched(1 << 30), 0);
        assert!(!is_muted(&client));
        // A second for each byte above.
        let told = request(&client, 1_000).produced();
        assert!((900_000..=1_000_000).contains(&told), "{told}");
        assert!(is_muted(&client) && !is_muted(&other));
    }

    #[test]
    fn a_shorter_hold_does_not_end_a_longer_one() {
        let mute = Mute::default();
        mute.hold(Duration::from_secs(1_000));
        let until = *mute.0.lock();
        mute.hold(Duration::ZERO);
        assert_eq!(*mute.0.lock(), until);
    }
}
