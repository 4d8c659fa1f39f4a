//! The alert machine as the coordinator's runtime drives it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::{oneshot, watch};

use super::metrics::{AlertMetrics, Ledger};
use crate::{
    alert::{AlertRecord, Alerts, Evaluated, Fingerprint, Logged, Progress},
    base::{PluginName, TimestampMs, TopicName},
    config::AlertPolicy,
    coordinator::{
        append::StoredRecord,
        driver::{Driver, Unavailable, Work},
    },
    plugin::PluginHost,
    telemetry,
    wire::record_batch::ControlType,
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

/// What the desk tells the machine.
pub(super) enum AlertEvent {
    Verdict {
        evaluated: Evaluated,
        /// The load that the sender knew of. What was meant for an earlier one is evaluated again, and in its place:
        /// counted now it would hide the matches before it.
        load: u64,
    },
    /// A plugin does not watch a topic any more. Answered when no progress of it is on its way.
    Forget { topic: TopicName, plugin: PluginName, done: oneshot::Sender<()> },
}

/// Drives one partition's alerts.
pub(super) struct AlertDriver {
    alerts: Alerts,
    ledger: Ledger,
    link: Link,
    /// Number of this load; 0 before it.
    load: u64,
}

impl AlertDriver {
    pub(super) fn new(link: Link) -> Self {
        let ledger = Ledger::new(link.metrics.clone());
        Self { alerts: Alerts::default(), ledger, link, load: 0 }
    }

    fn count(&mut self, evaluated: Evaluated, now: TimestampMs) {
        let plugins = self.link.plugins.clone();
        let matches = evaluated.matches.as_ref().map_or(0, Vec::len);
        self.link.metrics.matched(evaluated.watched.plugin.as_str(), matches);
        self.alerts.count(evaluated, now, &|name| policy_of(&plugins, name));
    }

    /// What is due, and the progress that is safe once it is committed.
    fn work(&mut self, now: TimestampMs) -> Work {
        let plugins = self.link.plugins.clone();
        let records = self.alerts.tick(now, &|name| policy_of(&plugins, name));
        let mut work = Work { records: records.iter().map(stored).collect(), replies: Vec::new() };
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

    fn forget(&mut self, topic: TopicName, plugin: PluginName, done: oneshot::Sender<()>) -> Work {
        self.alerts.forget_progress(&topic, &plugin);
        let sender = self.link.progress.clone();
        Work {
            records: Vec::new(),
            // After those that are held already.
            replies: vec![Box::new(move |_| {
                let kept = |source: &TopicName, by: &PluginName| *source != topic || *by != plugin;
                sender.send_modify(|it| it.retain(|it, _| kept(&it.source.topic, &it.plugin)));
                // Whoever asked may have gone.
                let _ = done.send(());
            })],
        }
    }
}

fn policy_of(plugins: &PluginHost, name: &str) -> AlertPolicy {
    plugins.alert_policy(&name.into())
}

fn stored(logged: &Logged) -> StoredRecord {
    match logged {
        Logged::Alert(fingerprint, alert) => StoredRecord::Data {
            key: fingerprint.0.clone().into_bytes().into(),
            value: alert.as_ref().map(|it| json(it).into()),
        },
        Logged::Pending(pending) => StoredRecord::Control {
            kind: ControlType::PendingAlert,
            subject: pending.alert.fingerprint.0.clone().into_bytes().into(),
            value: json(pending).into(),
        },
    }
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("an alert is plain data")
}

fn read(record: &StoredRecord) -> Result<Option<Logged>, serde_json::Error> {
    match record {
        StoredRecord::Data { key, value } => {
            let alert = value.as_deref().map(serde_json::from_slice::<AlertRecord>).transpose()?;
            let key = || Fingerprint(String::from_utf8_lossy(key).into_owned());
            let fingerprint = alert.as_ref().map_or_else(key, |it| it.fingerprint.clone());
            Ok(Some(Logged::Alert(fingerprint, alert)))
        }
        StoredRecord::Control { kind: ControlType::PendingAlert, value, .. } => {
            serde_json::from_slice(value).map(|it| Some(Logged::Pending(it)))
        }
        StoredRecord::Control { .. } => Ok(None),
    }
}

impl Driver for AlertDriver {
    type Event = AlertEvent;

    fn replay(&mut self, record: &StoredRecord) {
        match read(record) {
            Ok(Some(logged)) => {
                if let Logged::Alert(fingerprint, alert) = &logged {
                    self.ledger.replayed(fingerprint, alert.as_ref());
                }
                self.alerts.replay(logged, telemetry::now());
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a record of __klamm_alerts cannot be read"),
        }
    }

    fn loaded(&mut self, now: TimestampMs) -> Work {
        let plugins = self.link.plugins.clone();
        self.alerts.loaded(&|name| policy_of(&plugins, name));
        self.load = self.link.loads.fetch_add(1, Ordering::SeqCst) + 1;
        self.ledger.loaded();
        self.work(now)
    }

    fn handle(&mut self, event: AlertEvent, now: TimestampMs) -> Work {
        match event {
            AlertEvent::Verdict { evaluated, load } => {
                if load == self.load {
                    self.count(evaluated, now);
                }
                self.work(now)
            }
            AlertEvent::Forget { topic, plugin, done } => self.forget(topic, plugin, done),
        }
    }

    fn next_deadline(&self) -> Option<TimestampMs> {
        self.alerts.next_deadline()
    }

    fn tick(&mut self, now: TimestampMs) -> Work {
        self.work(now)
    }

    /// The desk evaluates a verdict's records again, as it sees a load that came after; and a machine that is loaded
    /// knows no progress.
    fn refuse(_: AlertEvent, _: Unavailable) {}
}
