//! Which version of each plugin runs, which ran before, and how it does.
//!
//! A name in use that ever loaded stays known while its file is gone or it is quarantined: its policy answers then. One
//! that nobody uses goes with its file.

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
    host::PluginError,
    load::Loaded,
    manifest::OnFailure,
    metrics::{PluginMetrics, SlotMetrics},
    quarantine::{Admission, FAILURES_MAX, Quarantine},
    state_cache::StateCache,
    status::{HookKind, PluginSource, PluginState, PluginStatus},
    uses::{Demand, PluginUses},
};
use crate::base::PluginName;

/// All names.
pub(super) struct Registry {
    /// Locked before `uses` by who needs both.
    slots: RwLock<BTreeMap<PluginName, Arc<Slot>>>,
    uses: RwLock<PluginUses>,
    /// Files of the folder that no plugin comes of, each with the reason.
    strays: RwLock<BTreeMap<String, String>>,
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
    pub(super) fn new(metrics: PluginMetrics, uses: PluginUses) -> Self {
        Self {
            slots: RwLock::default(),
            uses: RwLock::new(uses),
            strays: RwLock::default(),
            metrics,
            changes: watch::Sender::new(0),
        }
    }

    /// Takes over who uses which names. One that is unloaded and that nobody uses any more is forgotten.
    pub(super) fn set_uses(&self, uses: PluginUses) {
        let mut slots = self.slots.write();
        let before = slots.len();
        slots.retain(|name, it| uses.contains(name) || it.hook().is_none() || it.is_loaded());
        let forgotten = before != slots.len();
        *self.uses.write() = uses;
        drop(slots);
        if forgotten {
            self.changed();
        }
    }

    /// What a name asks of its file: the hook that it is used as, else the one that runs.
    pub(super) fn demand(&self, name: &PluginName) -> Option<Demand> {
        let used = self.uses.read().demand(name);
        used.or_else(|| {
            let running = self.get(name)?.active()?;
            Some(Demand::of_running(name, running.hook()))
        })
    }

    /// Tells of names in use that nothing runs under, after the first loads.
    pub(super) fn warn_of_absent(&self) {
        let slots = self.slots.read();
        let uses = self.uses.read();
        for name in uses.names().filter(|it| !slots.contains_key(*it)) {
            let by = uses.user(name).unwrap_or_default();
            let plugin = name.as_str();
            tracing::warn!(
                plugin,
                "plugin is not there, but {by} uses it: what it decides is refused"
            );
        }
    }

    /// Tells once of a file that no plugin comes of, and shows it until it is forgotten.
    pub(super) fn note_stray(&self, file: &str, reason: String) {
        tracing::warn!(file, "a file of the plugin folder is passed over: {reason}");
        self.strays.write().insert(file.to_owned(), reason);
        self.changed();
    }

    pub(super) fn forget_stray(&self, file: &str) {
        if self.strays.write().remove(file).is_some() {
            self.changed();
        }
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

    /// Names of which a version runs, sorted.
    pub(super) fn loaded(&self) -> Vec<PluginName> {
        let slots = self.slots.read();
        slots.values().filter(|it| it.is_loaded()).map(|it| it.name.clone()).collect()
    }

    pub(super) fn status(&self) -> Vec<PluginStatus> {
        // One whose first load has not ended is no plugin yet, and has not failed either.
        let has_ended =
            |it: &PluginStatus| it.state != PluginState::Failed || it.last_error.is_some();
        let slots = self.slots.read();
        let mut all: Vec<_> = slots.values().map(|it| it.status()).filter(has_ended).collect();
        let uses = self.uses.read();
        all.extend(uses.names().filter(|it| !slots.contains_key(*it)).map(|name| {
            let by = uses.user(name).unwrap_or_default();
            absent(name.as_str(), format!("is used by {by}, but there is no such file"))
        }));
        let strays = self.strays.read();
        all.extend(strays.iter().map(|(file, reason)| absent(file, reason.clone())));
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
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

    /// The file is gone and nothing stands in for it. A name that never loaded, or that nobody uses, is forgotten.
    pub(super) fn unload(&self, name: &PluginName) {
        let mut slots = self.slots.write();
        let Some(slot) = slots.get(name).cloned() else { return };
        let user = self.uses.read().user(name).map(str::to_owned);
        if user.is_none() || slot.hook().is_none() {
            slots.remove(name);
        }
        drop(slots);
        if slot.active.swap(None).is_some() {
            slot.unloaded(user.as_deref());
        }
        self.changed();
    }

    /// Goes back to the version before; once more goes forth again.
    ///
    /// # Errors
    ///
    /// [`PluginError::Unknown`] and [`PluginError::NoEarlierVersion`].
    pub(super) fn rollback(&self, name: &PluginName) -> Result<PluginStatus, PluginError> {
        let slot = self.get(name).ok_or_else(|| PluginError::Unknown(name.clone()))?;
        let previous = slot.history.lock().previous.take();
        let previous = previous.ok_or_else(|| PluginError::NoEarlierVersion(name.clone()))?;
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

/// That of a name without a version.
fn absent(name: &str, error: String) -> PluginStatus {
    PluginStatus {
        name: name.to_owned(),
        hook: None,
        version: None,
        sha256: None,
        source: PluginSource::File,
        state: PluginState::Failed,
        last_error: Some(error),
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

    pub(super) fn is_loaded(&self) -> bool {
        self.active.load().is_some()
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
            // A name whose world has changed cannot go back.
            history.previous = Some(before).filter(|it| it.hook() == loaded.hook());
        }
        history.load_error = None;
        history.source = Some(loaded.source);
        let mut health = self.health.lock();
        *health = Health::default();
        self.metrics.set_quarantined(false);
        self.active.store(Some(loaded));
    }

    /// Tells that its file is gone; `user` is who needs it.
    fn unloaded(&self, user: Option<&str>) {
        let plugin = self.name.as_str();
        if let Some(user) = user {
            tracing::warn!(
                plugin,
                "plugin is unloaded: its file is gone, and {user} uses it: its on-failure policy answers"
            );
            self.history.lock().load_error = Some(format!("its file is gone, and {user} uses it"));
        } else {
            tracing::info!(plugin, "plugin is removed: its file is gone, and nobody uses it");
        }
        self.metrics.set_quarantined(false);
        self.metrics.reloaded("unloaded");
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
        let mut health = self.health.lock();
        // Under the lock: a version that is swapped in begins with a health of its own.
        if self.active_id() != Some(load_id) {
            return;
        }
        match failure {
            None => self.succeeded(&mut health),
            Some(failure) if failure.kind.is_guests_fault() => {
                self.failed(&mut health, failure, now);
            }
            Some(_) => {}
        }
    }

    fn succeeded(&self, health: &mut Health) {
        health.call_error = None;
        if health.quarantine.succeeded() {
            self.metrics.set_quarantined(false);
            tracing::info!(
                plugin = self.name.as_str(),
                "plugin answers again: its quarantine ends"
            );
        }
    }

    fn failed(&self, health: &mut Health, failure: &CallFailure, now: Instant) {
        let plugin = self.name.as_str();
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
