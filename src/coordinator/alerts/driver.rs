//! The alert machine as the coordinator's runtime drives it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::watch;

use super::metrics::{AlertMetrics, Ledger};
use crate::{
    alert::{AlertRecord, Alerts, Evaluated, Fingerprint, Progress},
    base::TimestampMs,
    config::AlertPolicy,
    coordinator::{
        append::StoredRecord,
        runtime::{Driver, Unavailable, Work},
    },
    plugin::PluginHost,
    telemetry,
};

/// What the driver shares with the desk.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) metrics: AlertMetrics,
    pub(super) plugins: Arc<PluginHost>,
    /// Counts loads: whatever was not logged before one must be evaluated again.
    pub(super) loads: Arc<AtomicU64>,
    /// The newest progress that may be stored; each holds all of the one before.
    pub(super) progress: watch::Sender<Progress>,
}

/// Drives one partition's alerts.
pub(super) struct AlertDriver {
    alerts: Alerts,
    ledger: Ledger,
    link: Link,
}

impl AlertDriver {
    pub(super) fn new(link: Link) -> Self {
        Self { alerts: Alerts::default(), ledger: Ledger::new(link.metrics.clone()), link }
    }

    /// What is due, and the progress that is safe once it is committed.
    fn work(&mut self, now: TimestampMs) -> Work {
        let plugins = self.link.plugins.clone();
        let policy = |name: &str| policy_of(&plugins, name);
        let records = self.alerts.tick(now, &policy);
        let mut work = Work {
            records: records
                .into_iter()
                .map(|(key, record)| stored(&key, record.as_ref()))
                .collect(),
            replies: Vec::new(),
        };
        if let Some(progress) = self.alerts.take_progress(now) {
            let sender = self.link.progress.clone();
            work.replies.push(Box::new(move |committed| {
                if committed.is_ok() {
                    sender.send_replace(progress);
                }
            }));
        }
        work
    }
}

fn policy_of(plugins: &PluginHost, name: &str) -> AlertPolicy {
    plugins.alert_policy(&name.into())
}

fn stored(fingerprint: &Fingerprint, record: Option<&AlertRecord>) -> StoredRecord {
    let value = record.map(|it| serde_json::to_vec(it).expect("an alert is plain data").into());
    StoredRecord { key: fingerprint.0.clone().into_bytes().into(), value }
}

impl Driver for AlertDriver {
    type Event = Evaluated;

    fn replay(&mut self, key: &[u8], value: Option<&[u8]>) {
        let Ok(key) = std::str::from_utf8(key) else {
            tracing::warn!("a record of __klamm_alerts has no readable key");
            return;
        };
        let record = match value.map(serde_json::from_slice::<AlertRecord>).transpose() {
            Ok(record) => record,
            Err(error) => {
                tracing::warn!(key, %error, "a record of __klamm_alerts cannot be read");
                return;
            }
        };
        let fingerprint = Fingerprint(key.to_owned());
        self.ledger.replayed(&fingerprint, record.as_ref());
        self.alerts.replay(&fingerprint, record, telemetry::now());
    }

    fn loaded(&mut self, now: TimestampMs) -> Work {
        let plugins = self.link.plugins.clone();
        self.alerts.loaded(&|name| policy_of(&plugins, name));
        self.link.loads.fetch_add(1, Ordering::SeqCst);
        self.ledger.loaded();
        self.work(now)
    }

    fn handle(&mut self, event: Evaluated, now: TimestampMs) -> Work {
        let plugins = self.link.plugins.clone();
        let matches = event.matches.as_ref().map_or(0, Vec::len);
        self.link.metrics.matched(event.plugin.as_str(), matches);
        self.alerts.count(event, now, &|name| policy_of(&plugins, name));
        self.work(now)
    }

    fn next_deadline(&self) -> Option<TimestampMs> {
        self.alerts.next_deadline()
    }

    fn tick(&mut self, now: TimestampMs) -> Work {
        self.work(now)
    }

    /// The desk evaluates it again, as it sees a load that came after.
    fn refuse(_: Evaluated, _: Unavailable) {}
}
