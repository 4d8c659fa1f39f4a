//! The room from outside: hooks called through their faces, on guests that behave and on guests that do not.

mod failures;
mod loads;
mod reload;
mod shipped;
mod state;
mod text;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tempfile::TempDir;
use text::Text;

use super::{
    Embedded, Folders, HookKind, PluginHost, PluginState, PluginStatus, PluginUses,
    hook::{PartitionerInput, PartitionerVerdict, TransformInput, TransformVerdict},
    smoke::{self, KeyValue},
};
use crate::{
    base::{PluginName, TimestampMs, TopicPartition},
    config::{Config, PluginConfig},
    telemetry::Metrics,
    wire::record_batch::DecodedBatch,
};

/// A host over folders of its own.
struct Fixture {
    host: Arc<PluginHost>,
    metrics: Metrics,
    dir: TempDir,
    versions: TempDir,
    cache: Arc<TempDir>,
}

/// Compiled plugins of the tests that run at the same time: compiling is most of what they do.
fn shared_cache() -> Arc<TempDir> {
    static CACHE: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());
    let mut cache = CACHE.lock();
    cache.upgrade().unwrap_or_else(|| {
        let new = Arc::new(tempfile::tempdir().expect("folder"));
        *cache = Arc::downgrade(&new);
        new
    })
}

/// A component for `Embedded`: it lives as long as the test process.
fn embed(name: &'static str, text: &Text) -> Embedded {
    Embedded { name, wasm: Box::leak(text.wasm().into_boxed_slice()) }
}

/// The `.toml` of a plugin whose calls never end by themselves.
const HURRIED: &[u8] = b"[limits]\ncall-timeout-ms = 500";

fn config(dir: &Path) -> PluginConfig {
    PluginConfig {
        dir: dir.to_owned(),
        // Wall time: on a loaded machine a thread may wait long for its core. What must end sooner is [`HURRIED`].
        call_timeout_ms: 60_000,
        load_timeout_ms: 600_000,
        threads: 2,
        rescan_interval_ms: 20,
        ..Config::default().plugin
    }
}

impl Fixture {
    async fn start(embedded: &[Embedded], files: &[(&str, &[u8])]) -> Self {
        Self::start_with(embedded, PluginUses::default(), files).await
    }

    async fn start_with(embedded: &[Embedded], uses: PluginUses, files: &[(&str, &[u8])]) -> Self {
        let (dir, cache) = (tempfile::tempdir().expect("folder"), shared_cache());
        for (name, bytes) in files {
            std::fs::write(dir.path().join(name), bytes).expect("write");
        }
        let metrics = Metrics::default();
        let versions = tempfile::tempdir().expect("folder");
        let folders =
            Folders { cache: cache.path().to_owned(), versions: versions.path().to_owned() };
        let host = PluginHost::start(&config(dir.path()), embedded, uses, folders, &metrics)
            .await
            .expect("the room starts");
        Self { host, metrics, dir, versions, cache }
    }

    /// As after a restart of the node.
    async fn restart(self, embedded: &[Embedded]) -> Self {
        let Self { host, dir, versions, cache, .. } = self;
        host.shutdown().await;
        let metrics = Metrics::default();
        let folders =
            Folders { cache: cache.path().to_owned(), versions: versions.path().to_owned() };
        let uses = PluginUses::default();
        let host = PluginHost::start(&config(dir.path()), embedded, uses, folders, &metrics)
            .await
            .expect("the room starts");
        Self { host, metrics, dir, versions, cache }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Puts a file in place as careful people do.
    fn replace(&self, name: &str, bytes: &[u8]) {
        let part = self.path(&format!("{name}.part"));
        std::fs::write(&part, bytes).expect("write");
        std::fs::rename(part, self.path(name)).expect("rename");
    }

    fn status(&self, name: &str) -> Option<PluginStatus> {
        self.host.status().into_iter().find(|it| it.name == name)
    }

    /// Waits until the room's status is as wanted; it tells of each change.
    async fn until(
        &self,
        name: &str,
        wanted: impl Fn(Option<&PluginStatus>) -> bool,
    ) -> Option<PluginStatus> {
        let mut changes = self.host.watch();
        let reached = async {
            loop {
                let status = self.status(name);
                if wanted(status.as_ref()) {
                    return status;
                }
                changes.changed().await.expect("the room lives");
            }
        };
        tokio::time::timeout(Duration::from_mins(2), reached)
            .await
            .unwrap_or_else(|_| panic!("{name} stays {:?}", self.status(name)))
    }

    async fn until_version(&self, name: &str, version: &str) {
        self.until(name, |it| it.is_some_and(|it| it.version.as_deref() == Some(version))).await;
    }

    async fn place(&self, name: &str, keys: &[&str]) -> PartitionerVerdict {
        let partitioner = self.host.partitioner(&PluginName::from(name)).expect("known");
        partitioner.place(placing(keys)).await
    }

    async fn process(&self, name: &str, values: &[&str]) -> TransformVerdict {
        let transform = self.host.transform(&PluginName::from(name)).expect("known");
        transform.process(processing(values)).await
    }

    /// The value of a metric's line.
    fn metric(&self, line: &str) -> Option<f64> {
        let text = self.metrics.encode();
        let value = text.lines().find_map(|it| it.strip_prefix(line))?;
        value.trim().parse().ok()
    }
}

fn batch(keys: &[&str], values: &[&str]) -> Arc<DecodedBatch> {
    let longest = keys.len().max(values.len());
    let records: Vec<KeyValue<'_>> = (0..longest)
        .map(|at| (keys.get(at).map(|it| it.as_bytes()), values.get(at).map(|it| it.as_bytes())))
        .collect();
    Arc::new(smoke::batch(&records))
}

fn placing(keys: &[&str]) -> PartitionerInput {
    PartitionerInput {
        topic: "orders".into(),
        partitions: 4,
        batch: batch(keys, &[]),
        sequence: 0,
        seed: 0,
    }
}

fn processing(values: &[&str]) -> TransformInput {
    TransformInput {
        partition: partition(),
        batch: batch(&[], values),
        now: TimestampMs(1_700_000_000_000),
    }
}

fn partition() -> TopicPartition {
    TopicPartition::new("logs", 0)
}

fn is_active(status: Option<&PluginStatus>) -> bool {
    status.is_some_and(|it| it.state == PluginState::Active)
}

const HOOKS: [HookKind; 3] = [HookKind::Partitioner, HookKind::Assignor, HookKind::Transform];
