//! Holding clients to their quotas as KIP-219 says: the answer leaves at once and tells how long, and the connection is read no
//! further for that long.
//!
//! Users are not told apart yet: every client is Kafka's `ANONYMOUS`.

mod busy;
mod mute;

use std::{
    fmt,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant},
};

use prometheus_client::metrics::{counter::Counter, family::Family};

pub use self::{busy::Busy, mute::Mute};
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
    /// Time that requests took while there were quotas of it.
    taken: Family<[(&'static str, &'static str); 1], Counter<f64, AtomicU64>>,
}

impl Throttling {
    pub fn new(config: &QuotaConfig, metrics: &Metrics) -> Self {
        let (throttled, taken) = (Family::default(), Family::default());
        metrics.register(|it| {
            let help = "Requests whose clients were held back, by the quota that they were above";
            it.register("klamm_throttled_requests", help, throttled.clone());
            let help = "Time that requests took of the threads that serve all clients, counted while anyone has a quota of it";
            it.register("klamm_quota_request_seconds", help, taken.clone());
        });
        Self { quotas: ClientQuotas::new(config), started: Instant::now(), throttled, taken }
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
            client.busy.of(client_id);
            Arc::new(ClientThrottle {
                throttling: Arc::clone(self),
                client_id: Arc::clone(client_id),
                request_bytes,
                mute: client.mute.clone(),
                busy: client.busy.clone(),
            })
        })
    }

    /// Whether the time that requests take is counted.
    pub(super) fn counts_time(&self) -> bool {
        self.quotas.has_request()
    }

    /// Charges a connection that has ended for what was not charged yet: to send the last answer, above all.
    pub(super) fn ended(&self, client: &Client) {
        if let Some((client_id, taken)) = client.busy.last() {
            self.take_time(&client_id, taken);
        }
    }

    /// How long the client is to be held back, in milliseconds, for all that it has taken.
    fn take_time(&self, client_id: &str, time: Duration) -> u32 {
        self.taken.get_or_create(&[("exempt", "false")]).inc_by(time.as_secs_f64());
        let percent = time.as_secs_f64() * 100.0;
        self.quotas.record(Quota::Request, ANONYMOUS, client_id, percent, self.now_ms())
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
    busy: Busy,
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

    /// Counts the time that the request has taken, before it is answered: the `throttle_time_ms` of the answer, which is longer
    /// where another quota says so. Sending the answer is counted with what comes next.
    pub(super) fn answered(&self, throttle_time_ms: i32) -> i32 {
        if !self.throttling.counts_time() {
            return throttle_time_ms;
        }
        let ms = self.throttling.take_time(&self.client_id, self.busy.charge());
        self.hold_back(Quota::Request, ms).max(throttle_time_ms)
    }

    /// Counts the time of a request without an answer, as in Kafka, for nobody.
    pub(super) fn unanswered(&self) {
        if self.throttling.counts_time() {
            let taken = self.throttling.taken.get_or_create(&[("exempt", "true")]);
            taken.inc_by(self.busy.charge().as_secs_f64());
        }
    }

    /// Counts records that are to go out, and the time that the request has taken: the `throttle_time_ms` of the answer.
    ///
    /// # Errors
    ///
    /// The same of an answer without them: to send them would bring the client above a quota, and they are not counted.
    pub(super) fn fetched(&self, bytes: usize) -> Result<i32, i32> {
        let (throttling, quota) = (&self.throttling, Quota::Fetch);
        let (held, now_ms) = (self.answered(0), throttling.now_ms());
        let (quotas, bytes) = (&throttling.quotas, bytes as f64);
        let ms = match quotas.admit(quota, ANONYMOUS, &self.client_id, bytes, now_ms) {
            Ok(ms) if held == 0 => return Ok(self.hold_back(quota, ms)),
            Ok(ms) => {
                quotas.record(quota, ANONYMOUS, &self.client_id, -bytes, now_ms);
                ms
            }
            Err(ms) => ms,
        };
        Err(self.hold_back(quota, ms).max(held))
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

    /// The same for what the client did not ask for by itself, and is not held back for: whether it may be.
    pub(super) fn mutate_untold(&self, partitions: f64) -> bool {
        let (throttling, quota) = (&self.throttling, Quota::ControllerMutation);
        let now_ms = throttling.now_ms();
        let id = &self.client_id;
        throttling.quotas.try_record(quota, ANONYMOUS, id, partitions, now_ms).is_ok()
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
            busy: Busy::default(),
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
        assert_eq!(request(&client, 5).fetched(1 << 30), Ok(0));
        assert!(!is_muted(&client));
        // A second for each byte above.
        let told = request(&client, 1_000).produced();
        assert!((900_000..=1_000_000).contains(&told), "{told}");
        assert!(is_muted(&client) && !is_muted(&other));
    }

    fn throttling(quotas: &[(&str, f64)]) -> Arc<Throttling> {
        let config = Config::default().quota;
        let throttling = Arc::new(Throttling::new(&config, &Metrics::default()));
        let mut image = MetadataImage::default();
        for &(key, value) in quotas {
            image.replay(&MetadataRecord::ClientQuota {
                entity: [(QuotaEntityType::ClientId, None)].into(),
                key: key.into(),
                value: Some(QuotaValue(value)),
            });
        }
        throttling.apply(&image);
        throttling
    }

    /// Takes the thread for so long.
    async fn work(client: &Client, time: Duration) {
        let worked = async {
            let since = Instant::now();
            while since.elapsed() < time {}
        };
        client.busy.count(|| true, worked).await;
    }

    const SOME: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn time_is_charged_once_and_the_longest_wait_is_told() {
        // A ten-thousandth of a thread: ten milliseconds in the windows that are granted at once take a hundred seconds.
        let throttling = throttling(&[("request_percentage", 0.01)]);
        let client = client();
        let request = || throttling.of(&client, &"app".into(), 10).unwrap();
        work(&client, SOME).await;
        // No longer than a window, and no shorter than another quota says.
        assert_eq!(request().answered(0), 1_000);
        assert_eq!(request().answered(5_000), 5_000);
        let others = throttling.of(&client, &"other".into(), 10).unwrap();
        assert_eq!(others.answered(0), 0, "it was charged for already");
    }

    #[tokio::test]
    async fn an_answer_that_is_not_sent_is_not_counted() {
        let throttling = throttling(&[("request_percentage", 0.01), ("consumer_byte_rate", 100.0)]);
        let client = client();
        let request = || throttling.of(&client, &"app".into(), 10).unwrap();
        work(&client, SOME).await;
        assert_eq!(request().fetched(900), Err(1_000), "its time is above the quota");
        let bytes = |bytes| {
            throttling.quotas.admit(Quota::Fetch, ANONYMOUS, "app", bytes, throttling.now_ms())
        };
        assert_eq!(bytes(1_000.0), Ok(0));
        assert!(bytes(1.0).is_err());
    }

    #[tokio::test]
    async fn requests_without_an_answer_are_nobodys_and_what_is_left_is_charged_at_the_end() {
        let throttling = throttling(&[("request_percentage", 0.01)]);
        let client = client();
        let request = || throttling.of(&client, &"app".into(), 10).unwrap();
        work(&client, SOME).await;
        request().unanswered();
        assert_eq!(request().answered(0), 0);
        work(&client, SOME).await;
        throttling.ended(&client);
        assert_eq!(request().answered(0), 1_000);
        let taken = |exempt| throttling.taken.get_or_create(&[("exempt", exempt)]).get();
        assert!(taken("true") >= SOME.as_secs_f64());
        assert!(taken("false") >= SOME.as_secs_f64());
    }
}
