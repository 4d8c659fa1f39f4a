//! Keeps the loaded plugins, watches the folder, and hands out hooks by name.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    Assignor, HookKind, Partitioner, PluginStatus, Transform, cache, directory::Changes,
    embedded::Embedded, engine::PluginEngine, error::PluginError, guests::Guests, limits::Limits,
    load::Loader, metrics::PluginMetrics, registry::Registry, uses::PluginUses, versions::Versions,
    watch::Keeper,
};
use crate::{
    base::PluginName,
    config::{AlertPolicy, PluginConfig},
    telemetry::Metrics,
};

/// Folders of the node's that nobody else writes.
#[derive(Clone, Debug)]
pub struct Folders {
    /// What was compiled; it may be taken away while the node is down.
    pub cache: PathBuf,
    /// Versions for a rollback.
    pub versions: PathBuf,
}

/// All plugins of a node.
pub struct PluginHost {
    registry: Arc<Registry>,
    guests: Arc<Guests>,
    stop: CancellationToken,
    watcher: Mutex<Option<JoinHandle<()>>>,
}

impl PluginHost {
    /// Loads the embedded plugins and the folder's (each failure is a status, not an error), and begins to watch. `uses`
    /// are those of topics and groups so far.
    pub async fn start(
        config: &PluginConfig,
        embedded: &[Embedded],
        uses: PluginUses,
        folders: Folders,
        metrics: &Metrics,
    ) -> Result<Arc<Self>, PluginError> {
        let threads = threads(config);
        let engine =
            PluginEngine::new(threads, config.memory_max_bytes, cache::open(&folders.cache))
                .map_err(PluginError::Engine)?;
        let engine = Arc::new(engine);
        let versions = Versions { dir: folders.versions, bytes_max: config.file_max_bytes };
        let registry = Registry::new(PluginMetrics::new(metrics), versions, uses);
        let registry = Arc::new(registry);
        let failed = |error: std::io::Error| PluginError::Engine(error.to_string());
        let guests = Arc::new(Guests::start(engine.clone(), threads).map_err(failed)?);
        let loader = Loader::start(engine).map_err(failed)?;
        let mut keeper = keeper(config, embedded, registry.clone(), guests.clone(), loader);
        keeper.load_all().await;
        registry.warn_of_absent();
        let stop = CancellationToken::new();
        let watcher = tokio::spawn(keeper.run(stop.clone()));
        Ok(Arc::new(Self { registry, guests, stop, watcher: Mutex::new(Some(watcher)) }))
    }

    /// `None` when no plugin of that name and world has ever loaded.
    pub fn partitioner(&self, name: &PluginName) -> Option<Partitioner> {
        let slot = self.registry.of_hook(name, HookKind::Partitioner)?;
        Some(Partitioner::new(slot, self.guests.clone()))
    }

    /// As [`Self::partitioner`].
    pub fn assignor(&self, name: &PluginName) -> Option<Assignor> {
        let slot = self.registry.of_hook(name, HookKind::Assignor)?;
        Some(Assignor::new(slot, self.guests.clone()))
    }

    /// As [`Self::partitioner`].
    pub fn transform(&self, name: &PluginName) -> Option<Transform> {
        let slot = self.registry.of_hook(name, HookKind::Transform)?;
        Some(Transform::new(slot, self.guests.clone()))
    }

    /// Names that a config may use for a hook, sorted.
    pub fn names(&self, hook: HookKind) -> Vec<PluginName> {
        self.registry.names(hook)
    }

    /// `[alert]` of a transform.
    pub fn alert_policy(&self, name: &PluginName) -> AlertPolicy {
        let newest = self.registry.get(name).and_then(|it| it.newest());
        newest.map(|it| it.manifest.alert.clone()).unwrap_or_default()
    }

    /// All plugins, sorted by name.
    pub fn status(&self) -> Vec<PluginStatus> {
        self.registry.status()
    }

    /// Goes back to the version that ran before; a second time goes forth again. The files stay as they are: the next
    /// change of them loads anew, a restart does not.
    ///
    /// # Errors
    ///
    /// [`PluginError::Unknown`] and [`PluginError::NoEarlierVersion`].
    pub fn rollback(&self, name: &PluginName) -> Result<PluginStatus, PluginError> {
        let status = self.registry.rollback(name)?;
        self.guests.sweep();
        Ok(status)
    }

    /// Takes over which names topics and groups use now.
    pub fn set_uses(&self, uses: PluginUses) {
        self.registry.set_uses(uses);
    }

    /// Counts loads, good and bad, and unloads; changes after each.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.registry.watch()
    }

    /// Stops watching and ends the threads.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        let watcher = self.watcher.lock().take();
        if let Some(watcher) = watcher {
            // A load that is under way is not waited for: it would end with nobody to use it.
            watcher.abort();
            let _ = watcher.await;
        }
        let guests = self.guests.clone();
        // Joining waits for running calls; it must not hold up the runtime.
        let _ = tokio::task::spawn_blocking(move || guests.end()).await;
    }
}

/// At least two, so that a plugin that hangs never has all of them.
fn threads(config: &PluginConfig) -> usize {
    match config.threads {
        0 => std::thread::available_parallelism().map_or(2, usize::from).max(2),
        threads => threads,
    }
}

fn keeper(
    config: &PluginConfig,
    embedded: &[Embedded],
    registry: Arc<Registry>,
    guests: Arc<Guests>,
    loader: Loader,
) -> Keeper {
    Keeper {
        dir: config.dir.clone(),
        embedded: embedded.iter().map(|it| (PluginName::from(it.name), *it)).collect(),
        node: Limits::of_node(config),
        file_max_bytes: config.file_max_bytes,
        rescan_interval: Duration::from_millis(config.rescan_interval_ms.max(1)),
        registry,
        loader,
        on_change: Box::new(move || guests.sweep()),
        changes: Changes::default(),
        strays: Changes::default(),
        folder_error: None,
        late_loads: BTreeMap::new(),
    }
}
