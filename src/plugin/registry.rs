//! Which version of each plugin runs, which ran before, and how it does.
//!
//! A name that ever loaded stays known while its file is gone or it is quarantined: its policy answers then.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

use super::{
    failure::{CallFailure, LoadError},
    load::Loaded,
    manifest::OnFailure,
    metrics::{PluginMetrics, SlotMetrics},
    quarantine::{Admission, FAILURES_MAX, Quarantine},
    state_cache::StateCache,
    status::{HookKind, PluginSource, PluginState, PluginStatus},
};
use crate::base::PluginName;

/// All names.
pub(super) struct Registry {
    slots: RwLock<BTreeMap<PluginName, Arc<Slot>>>,
    metrics: PluginMetrics,
    /// Counts loads, good and bad, and unloads.
    changes: watch::Sender<u64>,
}

/// One name with its versions.
pub(super) struct Slot {
    pub(super) name: PluginName,
    pub(super) metrics: SlotMetrics,
    active: ArcSwapOption<Loaded>,
    history: Mutex<History>,
    health: Mutex<Health>,
    /// What a transform remembers of each partition.
    pub(super) states: Mutex<StateCache>,
}

#[derive(Default)]
struct History {
    /// Runs, or ran until its file was gone: tells the policy.
    newest: Option<Arc<Loaded>>,
    /// Ran before that: for a rollback.
    previous: Option<Arc<Loaded>>,
    load_error: Option<String>,
    /// Where the newest load, good or bad, came from.
    source: Option<PluginSource>,
}

/// How the version that runs does.
#[derive(Default)]
struct Health {
    quarantine: Quarantine,
    call_error: Option<String>,
    warned_at: Option<Instant>,
}

/// A plugin that fails now and then is told of at most this often.
const WARN_INTERVAL: Duration = Duration::from_secs(10);

impl Health {
    /// Whether a failure is worth a line now.
    fn warns(&mut self, now: Instant) -> bool {
        let warns = self.warned_at.is_none_or(|before| now.duration_since(before) >= WARN_INTERVAL);
        if warns {
            self.warned_at = Some(now);
        }
        warns
    }
}

impl Registry {
    pub(super) fn new(metrics: PluginMetrics) -> Self {
        Self { slots: RwLock::default(), metrics, changes: watch::Sender::new(0) }
    }

    pub(super) fn get(&self, name: &PluginName) -> Option<Arc<Slot>> {
        self.slots.read().get(name).cloned()
    }

    /// The slot of a hook's plugin, if it ever loaded.
    pub(super) fn of_hook(&self, name: &PluginName, hook: HookKind) -> Option<Arc<Slot>> {
        self.get(name).filter(|slot| slot.hook() == Some(hook))
    }

    pub(super) fn get_or_create(&self, name: &PluginName) -> Arc<Slot> {
        let mut slots = self.slots.write();
        slots
            .entry(name.clone())
            .or_insert_with(|| Arc::new(Slot::new(name.clone(), self.metrics.of(name))))
            .clone()
    }

    pub(super) fn names(&self, hook: HookKind) -> Vec<PluginName> {
        let slots = self.slots.read();
        slots.values().filter(|it| it.hook() == Some(hook)).map(|it| it.name.clone()).collect()
    }

    pub(super) fn status(&self) -> Vec<PluginStatus> {
        // One whose first load has not ended is no plugin yet, and has not failed either.
        let has_ended =
            |it: &PluginStatus| it.state != PluginState::Failed || it.last_error.is_some();
        self.slots.read().values().map(|slot| slot.status()).filter(has_ended).collect()
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Swaps the version in, between two batches: a batch keeps the one that it began with.
    pub(super) fn activate(&self, slot: &Slot, loaded: Loaded) {
        tracing::info!(
            plugin = slot.name.as_str(),
            version = loaded.description.version,
            sha256 = loaded.sha256,
            "plugin is loaded"
        );
        slot.activate(Arc::new(loaded));
        slot.metrics.reloaded("ok");
        self.changed();
    }

    /// Shows why a load failed. What runs goes on.
    pub(super) fn refuse(&self, slot: &Slot, source: PluginSource, error: &LoadError) {
        tracing::error!(
            plugin = slot.name.as_str(),
            %error,
            running = slot.active().map(|it| it.description.version.clone()),
            "plugin could not be loaded"
        );
        let mut history = slot.history.lock();
        history.load_error = Some(error.to_string());
        history.source.get_or_insert(source);
        drop(history);
        slot.metrics.reloaded("failed");
        self.changed();
    }

    /// The file is gone and nothing stands in for it. A name that never loaded is forgotten.
    pub(super) fn unload(&self, name: &PluginName) {
        let Some(slot) = self.get(name) else { return };
        if slot.hook().is_none() {
            self.slots.write().remove(name);
            self.changed();
        } else if slot.active.swap(None).is_some() {
            tracing::warn!(
                plugin = name.as_str(),
                "plugin is unloaded: its file is gone, and its on-failure policy answers for it where it is named"
            );
            slot.history.lock().load_error = Some("its file is gone".into());
            slot.metrics.reloaded("unloaded");
            self.changed();
        }
    }

    /// Goes back to the version before; once more goes forth again.
    ///
    /// # Errors
    ///
    /// What there is to say to the operator.
    pub(super) fn rollback(&self, name: &PluginName) -> Result<PluginStatus, String> {
        let slot = self.get(name).ok_or_else(|| format!("there is no plugin {name}"))?;
        let previous = slot.history.lock().previous.take();
        let previous = previous.ok_or_else(|| format!("{name} has no earlier version"))?;
        tracing::info!(
            plugin = name.as_str(),
            version = previous.description.version,
            "plugin is rolled back"
        );
        slot.activate(previous);
        slot.metrics.reloaded("rolled_back");
        self.changed();
        Ok(slot.status())
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

impl Slot {
    fn new(name: PluginName, metrics: SlotMetrics) -> Self {
        Self {
            name,
            metrics,
            active: ArcSwapOption::empty(),
            history: Mutex::default(),
            health: Mutex::default(),
            states: Mutex::default(),
        }
    }

    /// The version that runs.
    pub(super) fn active(&self) -> Option<Arc<Loaded>> {
        self.active.load_full()
    }

    pub(super) fn active_id(&self) -> Option<u64> {
        self.active.load().as_ref().map(|it| it.id)
    }

    /// The version that runs, or that ran last.
    pub(super) fn newest(&self) -> Option<Arc<Loaded>> {
        self.history.lock().newest.clone()
    }

    /// `None` if it never loaded.
    pub(super) fn hook(&self) -> Option<HookKind> {
        self.history.lock().newest.as_ref().map(|it| it.hook())
    }

    /// What a failure means now.
    pub(super) fn on_failure(&self) -> OnFailure {
        self.newest().map_or(OnFailure::Reject, |it| it.on_failure)
    }

    fn activate(&self, loaded: Arc<Loaded>) {
        let mut history = self.history.lock();
        if let Some(before) = history.newest.replace(loaded.clone())
            && before.sha256 != loaded.sha256
        {
            history.previous = Some(before);
        }
        history.load_error = None;
        history.source = Some(loaded.source);
        *self.health.lock() = Health::default();
        self.metrics.set_quarantined(false);
        self.active.store(Some(loaded));
    }

    pub(super) fn admit(&self, now: Instant) -> Admission {
        self.health.lock().quarantine.admit(now)
    }

    pub(super) fn is_confined(&self) -> bool {
        self.health.lock().quarantine.is_confined()
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.health.lock().quarantine.is_trusted()
    }

    /// Takes note of a call's end. That of a version which runs no more counts for nothing.
    pub(super) fn finished(&self, load_id: u64, failure: Option<&CallFailure>, now: Instant) {
        if let Some(failure) = failure {
            self.metrics.failed(failure.kind);
        }
        if self.active_id() != Some(load_id) {
            return;
        }
        match failure {
            None => self.succeeded(),
            Some(failure) if failure.kind.is_guests_fault() => self.failed(failure, now),
            Some(_) => {}
        }
    }

    fn succeeded(&self) {
        let mut health = self.health.lock();
        health.call_error = None;
        if health.quarantine.succeeded() {
            self.metrics.set_quarantined(false);
            tracing::info!(
                plugin = self.name.as_str(),
                "plugin answers again: its quarantine ends"
            );
        }
    }

    fn failed(&self, failure: &CallFailure, now: Instant) {
        let plugin = self.name.as_str();
        let mut health = self.health.lock();
        health.call_error = Some(failure.to_string());
        if health.quarantine.failed(now) {
            self.metrics.set_quarantined(true);
            tracing::error!(
                plugin,
                error = %failure,
                "plugin is quarantined after {FAILURES_MAX} failures in a row: its on-failure setting applies"
            );
        } else if health.warns(now) {
            tracing::warn!(plugin, kind = failure.kind.label(), error = %failure, "plugin failed");
        }
    }

    pub(super) fn status(&self) -> PluginStatus {
        let active = self.active();
        let history = self.history.lock();
        let health = self.health.lock();
        let newest = history.newest.as_ref();
        PluginStatus {
            name: self.name.to_string(),
            hook: newest.map(|it| it.hook()),
            version: newest.map(|it| it.description.version.clone()),
            sha256: newest.map(|it| it.sha256.clone()),
            source: newest.map(|it| it.source).or(history.source).unwrap_or(PluginSource::File),
            state: match active {
                None => PluginState::Failed,
                Some(_) if health.quarantine.is_confined() => PluginState::Quarantined,
                Some(_) => PluginState::Active,
            },
            last_error: history.load_error.clone().or_else(|| health.call_error.clone()),
        }
    }
}
