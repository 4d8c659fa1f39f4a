//! Chooses the log that is worth cleaning most, one at a time for each thread, and tells of it.

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant},
};

use prometheus_client::metrics::{counter::Counter, gauge::Gauge};
use tokio::sync::watch;

use super::{
    ReplicaManager,
    hosted::{Hosted, cause},
};
use crate::{
    base::{Pace, TimestampMs},
    config::CleanerConfig,
    log::{Cleaned, Cleaner, LogError},
    telemetry::{Metrics, now},
};

/// The cleaner, and what is told of it.
pub(super) struct Cleaning {
    cleaner: Cleaner,
    /// `log.cleaner.threads`
    threads: watch::Sender<usize>,
    read_bytes: Counter,
    written_bytes: Counter,
    max_dirty_ratio: Gauge<f64, AtomicU64>,
    last_run_seconds: Gauge<f64, AtomicU64>,
    /// A full disk fails every try.
    failures: Pace,
}

impl Cleaning {
    pub(super) fn new(config: &CleanerConfig, registry: &Metrics) -> Self {
        let it = Self {
            cleaner: Cleaner::new(config),
            threads: watch::Sender::new(config.threads),
            read_bytes: Counter::default(),
            written_bytes: Counter::default(),
            max_dirty_ratio: Gauge::default(),
            last_run_seconds: Gauge::default(),
            failures: Pace::default(),
        };
        registry.register(|registry| {
            let help = "Bytes of record batches that the log cleaner has read";
            registry.register("klamm_cleaner_read_bytes", help, it.read_bytes.clone());
            let help = "Bytes of record batches that the log cleaner has written anew";
            registry.register("klamm_cleaner_written_bytes", help, it.written_bytes.clone());
            let help = "Largest share of a compacted log that is not cleaned, when one was last looked for";
            registry.register("klamm_cleaner_max_dirty_ratio", help, it.max_dirty_ratio.clone());
            let help = "How long the last cleaning of a log has taken";
            registry.register("klamm_cleaner_last_run_seconds", help, it.last_run_seconds.clone());
        });
        it
    }

    /// Takes over what can be altered while it runs.
    pub(super) fn alter(&self, config: &CleanerConfig) {
        self.cleaner.alter(config);
        self.threads.send_replace(config.threads);
    }

    #[cfg(test)]
    pub(super) fn cleaner(&self) -> &Cleaner {
        &self.cleaner
    }

    fn tell(&self, hosted: &Hosted, error: &LogError, now: TimestampMs) {
        let partition = &hosted.partition.topic_partition;
        match error {
            LogError::CorruptBatch { .. } | LogError::Undecodable { .. } => {
                tracing::warn!(%partition, %error, "a log is not compacted until a restart: a batch of it cannot be read");
            }
            // Why a directory is offline was told when it went.
            _ if !hosted.dir().health.is_online() => {}
            _ if self.failures.is_due(now) => {
                let cause = cause(error);
                tracing::error!(%partition, %error, cause, "could not clean a log");
            }
            _ => {}
        }
    }
}

impl ReplicaManager {
    /// Cleans the compacted log with the largest share of what is not clean, if it is worth it; whether there may be more
    /// to do at once. Reads and writes for as long as it takes, holding up nobody.
    pub fn clean(&self) -> bool {
        let now = now();
        let Some(hosted) = self.filthiest(now) else { return false };
        let began = Instant::now();
        let log = hosted.partition.log();
        let cleaned = self.cleaning.cleaner.clean(log, hosted.partition.last_stable_offset(), now);
        let Cleaned { complete, bytes_read, bytes_written } = match cleaned {
            Ok(Some(cleaned)) => cleaned,
            Ok(None) => return false,
            Err(error) => {
                self.cleaning.tell(&hosted, &error, now);
                return false;
            }
        };
        let cleaning = &self.cleaning;
        cleaning.read_bytes.inc_by(bytes_read);
        cleaning.written_bytes.inc_by(bytes_written);
        cleaning.last_run_seconds.set(began.elapsed().as_secs_f64());
        tracing::debug!(partition = %hosted.partition.topic_partition, bytes_read, bytes_written, complete, "cleaned a log");
        if complete {
            self.store_cleaner_points();
        }
        complete
    }

    /// How many threads may clean at a time: `log.cleaner.threads`, which changes.
    pub fn cleaner_threads(&self) -> watch::Receiver<usize> {
        self.cleaning.threads.subscribe()
    }

    /// `log.cleaner.backoff.ms`: how long a cleaner rests that has found nothing to do.
    pub fn cleaner_backoff(&self) -> Duration {
        Duration::from_millis(self.altered.load().log.cleaner.backoff_ms)
    }

    /// Ends what runs, soon.
    pub fn stop_cleaning(&self) {
        self.cleaning.cleaner.stop();
    }

    /// Logs that are not compacted although they should be.
    pub(super) fn uncleanable(&self) -> usize {
        self.partitions().iter().filter(|it| it.log().is_uncleanable()).count()
    }

    fn filthiest(&self, now: TimestampMs) -> Option<Arc<Hosted>> {
        let (mut filthiest, mut max_ratio) = (None, 0.0);
        let mut max_due_ratio = -1.0;
        for hosted in self.hosted().values() {
            let log = hosted.partition.log();
            if log.is_left_alone(now) {
                continue;
            }
            let cleanable = match log.cleanable(hosted.partition.last_stable_offset(), now) {
                Ok(Some(cleanable)) => cleanable,
                Ok(None) => continue,
                Err(error) => {
                    self.cleaning.tell(hosted, &error, now);
                    continue;
                }
            };
            let ratio = cleanable.dirty_ratio();
            max_ratio = f64::max(max_ratio, ratio);
            if log.is_due(&cleanable) && ratio > max_due_ratio {
                (filthiest, max_due_ratio) = (Some(Arc::clone(hosted)), ratio);
            }
        }
        self.cleaning.max_dirty_ratio.set(max_ratio);
        filthiest
    }

    pub(super) fn store_cleaner_points(&self) {
        for dir in self.online_dirs() {
            let points = || {
                // Asked here: a topic that is gone must not come back into the file behind its deletion.
                let hosted = self.hosted();
                let here = hosted.iter().filter(|(_, it)| it.lies_in(dir));
                here.map(|(key, it)| (key.clone(), it.partition.log().cleaner_point())).collect()
            };
            if let Err(error) = dir.store_cleaner_points(points) {
                let cause = cause(&error);
                tracing::warn!(dir = %dir.path.display(), %error, cause, "after a restart the cleaner will look at more than it had to");
            }
        }
    }
}
