//! Which version of each plugin runs, which ran before, and how it does.
//!
//! A name in use that ever loaded stays known while its file is gone or it is quarantined: its policy answers then. One
//! that nobody uses goes with its file.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::RwLock;
use tokio::sync::watch;

use super::{
    error::PluginError,
    failure::LoadError,
    load::Loaded,
    metrics::PluginMetrics,
    slot::Slot,
    status::{HookKind, PluginSource, PluginState, PluginStatus},
    uses::{Demand, PluginUses},
    versions::{Kept, Versions},
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
    pub(super) versions: Versions,
    /// Counts loads, good and bad, and unloads.
    changes: watch::Sender<u64>,
}

impl Registry {
    pub(super) fn new(metrics: PluginMetrics, versions: Versions, uses: PluginUses) -> Self {
        Self {
            slots: RwLock::default(),
            uses: RwLock::new(uses),
            strays: RwLock::default(),
            metrics,
            versions,
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
        let uses = self.uses.read();
        let status = |slot: &Arc<Slot>| {
            let mut status = slot.status();
            if status.state == PluginState::Failed && status.last_error.is_none() {
                let needed_by = uses.user(&slot.name).filter(|_| status.hook.is_some());
                status.last_error =
                    needed_by.map(|it| format!("its file is gone, and {it} uses it"));
            }
            status
        };
        let mut all: Vec<_> = slots.values().map(status).filter(has_ended).collect();
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
        slot.refused(source, error);
        self.changed();
    }

    /// The file is gone and nothing stands in for it. A name that never loaded, or that nobody uses, is forgotten.
    pub(super) fn unload(&self, name: &PluginName) {
        let mut slots = self.slots.write();
        let Some(slot) = slots.get(name).cloned() else { return };
        let user = self.uses.read().user(name);
        if user.is_none() || slot.hook().is_none() {
            slots.remove(name);
        }
        drop(slots);
        slot.unload(user.as_deref());
        self.changed();
    }

    /// Goes back to the version before; once more goes forth again.
    ///
    /// # Errors
    ///
    /// [`PluginError::Unknown`] and [`PluginError::NoEarlierVersion`].
    pub(super) fn rollback(&self, name: &PluginName) -> Result<PluginStatus, PluginError> {
        let slot = self.get(name).ok_or_else(|| PluginError::Unknown(name.clone()))?;
        self.roll_back(&slot).ok_or_else(|| PluginError::NoEarlierVersion(name.clone()))?;
        self.note_versions(&slot);
        Ok(slot.status())
    }

    fn roll_back(&self, slot: &Slot) -> Option<()> {
        let previous = slot.roll_back()?;
        tracing::info!(
            plugin = slot.name.as_str(),
            version = previous.description.version,
            "plugin is rolled back"
        );
        slot.metrics.reloaded("rolled_back");
        self.changed();
        Some(())
    }

    /// Puts a version beside the one that a start found in the folder: for a rollback, or in its place again.
    pub(super) fn restore(&self, slot: &Slot, loaded: Loaded, kept: &Kept) {
        slot.keep_previous(loaded);
        if matches!(kept, Kept::InUse(_)) {
            self.roll_back(slot);
        }
    }

    /// For the next start.
    pub(super) fn note_versions(&self, slot: &Slot) {
        if let Some(ran) = slot.ran() {
            self.versions.note(&slot.name, &ran);
        }
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
