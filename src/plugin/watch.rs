//! The task that keeps what runs in step with the folder: looks, waits until files rest, loads one after the other.
//!
//! The system tells of changes sooner than the rescan sees them, but only the rescan is relied on.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    directory::{self, Changes, Due, Entry, Look, ReadError, Stray},
    embedded::Embedded,
    failure::LoadError,
    limits::Limits,
    load::{LoadRequest, Loaded, Loader},
    manifest::Manifest,
    registry::Registry,
    sha256::sha256,
    slot::Slot,
    status::PluginSource,
};
use crate::{base::PluginName, config::nearest};

/// How long files must rest after a change was told of.
const SETTLE: Duration = Duration::from_millis(100);

/// Tries of one file whose compilation comes too late: once it is done, the next try finds it in the cache.
const LATE_LOADS_MAX: u32 = 10;

/// Those of Cargo's tools: a folder of plugins' sources may be the watched one, as in Klamm's own repository.
const OTHERS_TOML: [&str; 5] =
    ["Cargo.toml", "clippy.toml", "deny.toml", "rust-toolchain.toml", "rustfmt.toml"];

/// Keeps the registry in step with the folder and the embedded plugins.
pub(super) struct Keeper {
    pub(super) dir: PathBuf,
    pub(super) embedded: BTreeMap<PluginName, Embedded>,
    pub(super) node: Limits,
    pub(super) file_max_bytes: u64,
    pub(super) rescan_interval: Duration,
    pub(super) registry: Arc<Registry>,
    pub(super) loader: Loader,
    /// Called after each load and unload.
    pub(super) on_change: Box<dyn Fn() + Send + Sync>,
    pub(super) changes: Changes<PluginName, Entry>,
    pub(super) strays: Changes<String, Stray>,
    /// Why the folder could not be read at the last look: told once.
    pub(super) folder_error: Option<String>,
    pub(super) late_loads: BTreeMap<PluginName, u32>,
}

/// What became of a name.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Handled,
    /// Nothing is decided: look again.
    Again,
}

impl Keeper {
    /// Loads all that is there, at the start.
    pub(super) async fn load_all(&mut self) {
        let Look { mut names, strays } = self.look().unwrap_or_default();
        self.changes.begin(names.clone());
        for name in self.embedded.keys() {
            names.entry(name.clone()).or_default();
        }
        for (name, entry) in names {
            self.handle(name, entry).await;
        }
        for (file, stray) in strays {
            self.handle_stray(file, stray);
        }
    }

    /// `None` if the folder cannot be read: nothing is unloaded then.
    fn look(&mut self) -> Option<Look> {
        match directory::look(&self.dir) {
            Ok(look) => {
                self.folder_error = None;
                Some(look)
            }
            Err(error) => {
                let error = error.to_string();
                if self.folder_error.as_ref() != Some(&error) {
                    tracing::error!(dir = %self.dir.display(), error, "the plugin folder cannot be read");
                    self.folder_error = Some(error);
                }
                None
            }
        }
    }

    /// Watches until told to stop.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let told = Arc::new(Notify::new());
        let mut watcher: Option<RecommendedWatcher> = None;
        let mut wait = self.rescan_interval;
        loop {
            if watcher.is_none() && self.dir.is_dir() {
                watcher = watch(&self.dir, told.clone());
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = told.notified() => tokio::time::sleep(SETTLE).await,
                () = tokio::time::sleep(wait) => {}
            }
            if !self.dir.is_dir() {
                // A folder made anew under the same name is another one to the system.
                watcher = None;
            }
            wait = if self.step(&stop).await { SETTLE } else { self.rescan_interval };
        }
    }

    /// One look; true when something still moves.
    async fn step(&mut self, stop: &CancellationToken) -> bool {
        let Some(Look { names, strays }) = self.look() else { return false };
        let Due { names: strays, unsettled } = self.strays.observe(strays);
        let due = self.changes.observe(names);
        let mut again = due.unsettled || unsettled;
        for (file, stray) in strays {
            self.handle_stray(file, stray);
        }
        for (name, entry) in due.names {
            if stop.is_cancelled() {
                return false;
            }
            again |= self.handle(name, entry).await == Outcome::Again;
        }
        again
    }

    async fn handle(&mut self, name: PluginName, entry: Entry) -> Outcome {
        let outcome = match (entry.wasm.is_some(), self.embedded.contains_key(&name)) {
            (true, _) => self.load_file(&name, entry).await,
            (false, true) => self.load_embedded(&name, entry).await,
            (false, false) => {
                self.registry.unload(&name);
                (self.on_change)();
                Outcome::Handled
            }
        };
        if outcome == Outcome::Handled {
            self.note_lone_toml(&name, entry);
            self.late_loads.remove(&name);
            self.changes.handled(name, entry);
        }
        outcome
    }

    /// A `.toml` that configures nothing may be a slip of the finger.
    fn note_lone_toml(&self, name: &PluginName, entry: Entry) {
        let file = format!("{name}.toml");
        let configures = entry.wasm.is_some() || self.embedded.contains_key(name);
        if entry.toml.is_none() || configures || OTHERS_TOML.contains(&file.as_str()) {
            return self.registry.forget_stray(&file);
        }
        let known = self.registry.loaded();
        let meant = nearest(name.as_str(), known.iter().map(PluginName::as_str));
        let hint = meant.map(|it| format!("; did you mean {it}.toml?")).unwrap_or_default();
        let reason = format!("it configures nothing, for there is no plugin {name}{hint}");
        self.registry.note_stray(&file, reason);
    }

    fn handle_stray(&mut self, file: String, stray: Stray) {
        if stray == Stray::default() {
            self.registry.forget_stray(&file);
        } else {
            self.registry.note_stray(&file, stray.reason.into());
        }
        self.strays.handled(file, stray);
    }

    /// A file that fails leaves alone what runs; at the start that may be the embedded plugin of its name.
    async fn load_file(&mut self, name: &PluginName, entry: Entry) -> Outcome {
        let result = self.try_file(name, entry).await;
        let slot = self.registry.get_or_create(name);
        let outcome = match result {
            Ok(Some(loaded)) => {
                self.put_in_place(&slot, entry, loaded).await;
                (self.on_change)();
                return Outcome::Handled;
            }
            Ok(None) => return Outcome::Handled,
            Err(Trouble::Moved) => return Outcome::Again,
            Err(Trouble::Load(error)) => {
                let outcome = self.outcome_of(name, &error);
                self.stand_in(name, entry).await;
                self.registry.refuse(&slot, PluginSource::File, &error);
                outcome
            }
        };
        (self.on_change)();
        outcome
    }

    /// Lets a version run; the first one after a start beside what ran before, or behind what was put back into use.
    async fn put_in_place(&self, slot: &Slot, entry: Entry, loaded: Loaded) {
        let is_first = slot.newest().is_none();
        let ran = if is_first { self.registry.versions.ran(&slot.name) } else { None };
        let kept = ran.and_then(|it| it.beside(&loaded.sha256));
        self.registry.activate(slot, loaded);
        if let Some(kept) = kept
            && let Some(wasm) = self.kept(&slot.name, kept.sha256()).await
        {
            match self.load_kept(slot, entry, wasm).await {
                Ok(loaded) => self.registry.restore(slot, loaded, &kept),
                Err(error) => {
                    let plugin = slot.name.as_str();
                    tracing::warn!(plugin, %error, "the version before this one loads no more");
                }
            }
        }
        self.registry.note_versions(slot);
    }

    /// A version's bytes, from the folder of versions or the binary.
    async fn kept(&self, name: &PluginName, sha256: &str) -> Option<(Bytes, PluginSource)> {
        let versions = self.registry.versions.clone();
        let (of, which) = (name.clone(), sha256.to_owned());
        let read = tokio::task::spawn_blocking(move || versions.wasm(&of, &which));
        if let Ok(Some(wasm)) = read.await {
            return Some((wasm, PluginSource::File));
        }
        let embedded = self.embedded.get(name)?.wasm;
        let is_it = self::sha256(embedded) == sha256;
        is_it.then(|| (Bytes::from_static(embedded), PluginSource::Embedded))
    }

    async fn load_kept(
        &self,
        slot: &Slot,
        entry: Entry,
        (bytes, source): (Bytes, PluginSource),
    ) -> Result<Loaded, LoadError> {
        let manifest = match self.manifest(&slot.name, entry) {
            // A pin is for the file.
            Ok(mut manifest) => {
                manifest.sha256 = None;
                manifest
            }
            Err(Trouble::Load(error)) => return Err(error),
            Err(Trouble::Moved) => return Err(LoadError::refused("its settings change just now")),
        };
        self.loader.load(self.request(slot, bytes, source, manifest)).await
    }

    fn request(
        &self,
        slot: &Slot,
        bytes: Bytes,
        source: PluginSource,
        manifest: Manifest,
    ) -> LoadRequest {
        LoadRequest {
            name: slot.name.clone(),
            bytes,
            source,
            manifest,
            demand: self.registry.demand(&slot.name),
            memory: slot.metrics.memory(),
        }
    }

    /// The embedded plugin runs in the place of a file that never did.
    async fn stand_in(&mut self, name: &PluginName, entry: Entry) {
        let runs = self.registry.get(name).is_some_and(|it| it.active().is_some());
        if !runs && self.embedded.contains_key(name) {
            self.load_embedded(name, entry).await;
        }
    }

    fn outcome_of(&mut self, name: &PluginName, error: &LoadError) -> Outcome {
        let LoadError::CompiledLate(_) = error else { return Outcome::Handled };
        let tries = self.late_loads.entry(name.clone()).or_default();
        *tries += 1;
        if *tries < LATE_LOADS_MAX { Outcome::Again } else { Outcome::Handled }
    }

    /// `None`: the same bytes with the same settings run already.
    async fn try_file(&self, name: &PluginName, entry: Entry) -> Result<Option<Loaded>, Trouble> {
        let Some(id) = entry.wasm else { return Ok(None) };
        let manifest = self.manifest(name, entry)?;
        let (dir, max, of) = (self.dir.clone(), self.file_max_bytes, name.clone());
        let bytes = tokio::task::spawn_blocking(move || directory::read_wasm(&dir, &of, id, max))
            .await
            .map_err(|error| LoadError::refused(error.to_string()))??;
        self.load(name, bytes, PluginSource::File, manifest).await
    }

    async fn load_embedded(&mut self, name: &PluginName, entry: Entry) -> Outcome {
        let Some(embedded) = self.embedded.get(name) else { return Outcome::Handled };
        let bytes = Bytes::from_static(embedded.wasm);
        let result = match self.manifest(name, entry) {
            Ok(manifest) => self.load(name, bytes, PluginSource::Embedded, manifest).await,
            Err(trouble) => Err(trouble),
        };
        let slot = self.registry.get_or_create(name);
        let outcome = match result {
            Ok(Some(loaded)) => {
                self.put_in_place(&slot, entry, loaded).await;
                Outcome::Handled
            }
            Ok(None) => return Outcome::Handled,
            Err(Trouble::Moved) => return Outcome::Again,
            Err(Trouble::Load(error)) => {
                self.registry.refuse(&slot, PluginSource::Embedded, &error);
                self.outcome_of(name, &error)
            }
        };
        (self.on_change)();
        outcome
    }

    async fn load(
        &self,
        name: &PluginName,
        bytes: Bytes,
        source: PluginSource,
        manifest: Manifest,
    ) -> Result<Option<Loaded>, Trouble> {
        let slot = self.registry.get_or_create(name);
        let running = slot.active();
        let request = self.request(&slot, bytes.clone(), source, manifest);
        if let Some(running) = running
            && running.is_same(&request)
            && slot.status().last_error.is_none()
        {
            return Ok(None);
        }
        let loaded = self.loader.load(request).await?;
        if source == PluginSource::File {
            let (versions, name) = (self.registry.versions.clone(), name.clone());
            let sha256 = loaded.sha256.clone();
            let keep = move || versions.keep(&name, &sha256, &bytes);
            // Whatever becomes of it, the version may run.
            let _ = tokio::task::spawn_blocking(keep).await;
        }
        Ok(Some(loaded))
    }

    fn manifest(&self, name: &PluginName, entry: Entry) -> Result<Manifest, Trouble> {
        let Some(id) = entry.toml else { return Ok(Manifest::default_of(self.node)) };
        let text = directory::read_toml(&self.dir, name, id)?;
        Ok(Manifest::parse(&text, self.node)
            .map_err(|problems| LoadError::refused(format!("{name}.toml: {problems}")))?)
    }
}

/// Why a name has no new version.
enum Trouble {
    Moved,
    Load(LoadError),
}

impl From<LoadError> for Trouble {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

impl From<ReadError> for Trouble {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Moved => Self::Moved,
            other => Self::Load(LoadError::refused(other.to_string())),
        }
    }
}

/// Asks the system to tell of changes; without it (a missing folder, no watches left) the rescan is enough.
fn watch(dir: &std::path::Path, told: Arc<Notify>) -> Option<RecommendedWatcher> {
    let handler = move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| is_change(event.kind)) {
            told.notify_one();
        }
    };
    let mut watcher = notify::recommended_watcher(handler)
        .inspect_err(|error| tracing::debug!(%error, "no notice of changes in the plugin folder"))
        .ok()?;
    watcher.watch(dir, RecursiveMode::NonRecursive).ok()?;
    Some(watcher)
}

/// Our own looks open and read files, which must not lead to another look.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}
