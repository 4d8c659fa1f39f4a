//! One name of a plugin: the version that runs, the one before, and how it does.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;

use super::{
    failure::{CallFailure, LoadError},
    load::Loaded,
    manifest::OnFailure,
    metrics::SlotMetrics,
    quarantine::{Admission, FAILURES_MAX, Quarantine},
    state_cache::StateCache,
    status::{HookKind, PluginSource, PluginState, PluginStatus},
    versions::Ran,
};
use crate::base::PluginName;

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
    /// SHA-256 of what lies in the folder, while an earlier version was put back in its place.
    instead_of: Option<String>,
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

impl Slot {
    pub(super) fn new(name: PluginName, metrics: SlotMetrics) -> Self {
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

    /// Lets a version run from now on.
    pub(super) fn activate(&self, loaded: Arc<Loaded>) {
        let mut history = self.history.lock();
        if let Some(before) = history.newest.replace(loaded.clone())
            && before.sha256 != loaded.sha256
        {
            // A name whose world has changed cannot go back.
            history.previous = Some(before).filter(|it| it.hook() == loaded.hook());
        }
        history.instead_of = None;
        history.load_error = None;
        history.source = Some(loaded.source);
        let mut health = self.health.lock();
        *health = Health::default();
        self.metrics.set_quarantined(false);
        self.active.store(Some(loaded));
    }

    /// Stops what runs, for its file is gone; `user` is who needs it.
    pub(super) fn unload(&self, user: Option<&str>) {
        self.history.lock().load_error = None;
        if self.active.swap(None).is_none() {
            return;
        }
        let plugin = self.name.as_str();
        if let Some(user) = user {
            tracing::warn!(
                plugin,
                "plugin is unloaded: its file is gone, and {user} uses it: its on-failure policy answers"
            );
        } else {
            tracing::info!(plugin, "plugin is removed: its file is gone, and nobody uses it");
        }
        self.metrics.set_quarantined(false);
        self.metrics.reloaded("unloaded");
    }

    /// Takes note of a load that failed. What runs goes on.
    pub(super) fn refused(&self, source: PluginSource, error: &LoadError) {
        let mut history = self.history.lock();
        history.load_error = Some(error.to_string());
        history.source.get_or_insert(source);
        drop(history);
        self.metrics.reloaded("failed");
    }

    /// Lets the version before run again, whose place the one that runs takes. `None` when there is none.
    pub(super) fn roll_back(&self) -> Option<Arc<Loaded>> {
        let mut history = self.history.lock();
        let previous = history.previous.take()?;
        let newest = history.newest.as_ref().map(|it| it.sha256.clone());
        let in_folder = history.instead_of.take().or(newest);
        drop(history);
        self.activate(previous.clone());
        self.history.lock().instead_of = in_folder.filter(|it| *it != previous.sha256);
        Some(previous)
    }

    /// Keeps a version that ran before the node started, for a rollback.
    pub(super) fn keep_previous(&self, loaded: Loaded) {
        let mut history = self.history.lock();
        let is_other = |it: &Arc<Loaded>| it.hook() == loaded.hook() && it.sha256 != loaded.sha256;
        if history.previous.is_none() && history.newest.as_ref().is_some_and(is_other) {
            history.previous = Some(Arc::new(loaded));
        }
    }

    /// What a start has to know; `None` if nothing ever loaded.
    pub(super) fn ran(&self) -> Option<Ran> {
        let history = self.history.lock();
        Some(Ran {
            newest: history.newest.as_ref()?.sha256.clone(),
            previous: history.previous.as_ref().map(|it| it.sha256.clone()),
            instead_of: history.instead_of.clone(),
        })
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
