//! A load: size check, compile, link, describe, configure, one smoke call, all within the load's time.
//!
//! It yields a [`Loaded`] version or a reason; nothing that runs is touched. Loads are made one at a time on one
//! thread of low priority, so that compiling never competes with the broker.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::{
    compile::{self, Compiled},
    convert::Description,
    engine::PluginEngine,
    failure::{CallFailure, FailureKind, LoadError},
    guest::{Call, Guest, time_left},
    guest_log::{GuestLog, LogGate},
    guest_state::GuestState,
    manifest::{Manifest, OnFailure},
    memory::{MemoryGauge, MemoryLimit},
    sha256::sha256,
    smoke,
    status::{HookKind, PluginSource},
    uses::Demand,
};
use crate::base::PluginName;

/// Loads that may wait; the folder's task asks for one at a time.
const REQUESTS_MAX: usize = 16;

/// Smoke calls of one load, when they run out of time.
const SMOKE_CALLS_MAX: u32 = 3;

/// How much lower than the broker's the priority of compiling is (`nice`).
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// A version of a plugin that may run.
pub(super) struct Loaded {
    /// Told apart by this, also when the same file was loaded twice.
    pub(super) id: u64,
    pub(super) sha256: String,
    pub(super) source: PluginSource,
    pub(super) description: Description,
    pub(super) manifest: Manifest,
    pub(super) on_failure: OnFailure,
    compiled: Compiled,
    log: GuestLog,
    memory: MemoryGauge,
    /// What making a configured instance may take: measured at the load, with room.
    setup_timeout: Duration,
}

/// What to load, and under which name.
pub(super) struct LoadRequest {
    pub(super) name: PluginName,
    pub(super) bytes: Bytes,
    pub(super) source: PluginSource,
    pub(super) manifest: Manifest,
    /// What the name asks of its file; `None` for one that nobody uses and that does not run.
    pub(super) demand: Option<Demand>,
    /// Where the memory of its guests is summed up.
    pub(super) memory: MemoryGauge,
}

impl Loaded {
    pub(super) fn hook(&self) -> HookKind {
        self.compiled.hook()
    }

    /// Whether loading this would change nothing. A file equal to the embedded plugin still counts as a file.
    pub(super) fn is_same(&self, request: &LoadRequest) -> bool {
        self.source == request.source
            && self.manifest == request.manifest
            && self.sha256 == sha256(&request.bytes)
    }

    /// A configured instance.
    pub(super) fn guest(&self, engine: &PluginEngine) -> Result<Guest, CallFailure> {
        let started = Instant::now();
        let limits = &self.manifest.limits;
        let mut guest =
            Guest::new(engine, &self.compiled, self.guest_state(), limits, self.setup_timeout)?;
        guest.set_needs(self.description.needs);
        let left = time_left(started, self.setup_timeout)?;
        guest.configure(engine, &self.manifest.settings, left)?;
        Ok(guest)
    }

    fn guest_state(&self) -> GuestState {
        GuestState {
            memory: MemoryLimit::new(self.manifest.limits.memory_max_bytes, self.memory.clone()),
            log: self.log.clone(),
        }
    }
}

/// Longest compilation that a load waits for. It cannot be interrupted; its result is cached for another try.
const COMPILE_TIMEOUT: Duration = Duration::from_mins(3);

/// The thread that loads.
pub(super) struct Loader {
    requests: mpsc::Sender<(LoadRequest, oneshot::Sender<Result<Loaded, LoadError>>)>,
}

impl Loader {
    pub(super) fn start(engine: Arc<PluginEngine>) -> std::io::Result<Self> {
        let (requests, mut waiting) =
            mpsc::channel::<(LoadRequest, oneshot::Sender<_>)>(REQUESTS_MAX);
        std::thread::Builder::new().name("plugin-load".into()).spawn(move || {
            lower_priority();
            while let Some((request, reply)) = waiting.blocking_recv() {
                let result = load(&engine, request, || reply.is_closed());
                // Nobody waits any more for a load that came too late.
                let _ = reply.send(result);
            }
        })?;
        Ok(Self { requests })
    }

    /// Returns within [`COMPILE_TIMEOUT`] and the load's time, also while a hopeless compilation goes on behind it.
    pub(super) async fn load(&self, request: LoadRequest) -> Result<Loaded, LoadError> {
        let limit = COMPILE_TIMEOUT + request.manifest.limits.load_timeout;
        let (reply, answer) = oneshot::channel();
        let ended = || LoadError::refused("the broker stops");
        self.requests.send((request, reply)).await.map_err(|_| ended())?;
        match tokio::time::timeout(limit, answer).await {
            Ok(result) => result.map_err(|_| ended())?,
            Err(_) => Err(LoadError::CompiledLate(COMPILE_TIMEOUT.as_secs())),
        }
    }
}

/// The whole load, on the calling thread. `given_up` tells that nobody waits for it any more. The load's time begins
/// when the component is compiled: a JavaScript or Python plugin takes half a minute for that on a small machine.
pub(super) fn load(
    engine: &PluginEngine,
    request: LoadRequest,
    given_up: impl Fn() -> bool,
) -> Result<Loaded, LoadError> {
    let limit = request.manifest.limits.load_timeout;
    if given_up() {
        return Err(LoadError::CompiledLate(COMPILE_TIMEOUT.as_secs()));
    }
    let sha256 = sha256(&request.bytes);
    check_pin(&request, &sha256)?;
    let component = compile::compile(engine, &request.bytes)?;
    if given_up() {
        return Err(LoadError::CompiledLate(COMPILE_TIMEOUT.as_secs()));
    }
    let started = Instant::now();
    let compiled = compile::link(engine, &component)?;
    check_hook(&request, compiled.hook())?;
    let on_failure = request.manifest.on_failure(compiled.hook()).map_err(LoadError::refused)?;
    let log = GuestLog::new(
        request.name.clone(),
        Arc::new(Mutex::new(LogGate::new(request.manifest.limits.log_lines_per_second))),
    );
    let loaded = Loaded {
        id: next_id(),
        description: describe(engine, &compiled, &request, &log, started)?,
        sha256,
        source: request.source,
        on_failure,
        compiled,
        log,
        memory: request.memory,
        setup_timeout: limit,
        manifest: request.manifest,
    };
    try_out(engine, loaded, started)
}

fn check_pin(request: &LoadRequest, sha256: &str) -> Result<(), LoadError> {
    match &request.manifest.sha256 {
        // A pin is for the file; the embedded plugin is pinned by the binary.
        Some(pin) if request.source == PluginSource::File && pin != sha256 => {
            Err(LoadError::refused(format!("its SHA-256 is {sha256}, but sha256 pins it to {pin}")))
        }
        _ => Ok(()),
    }
}

fn check_hook(request: &LoadRequest, hook: HookKind) -> Result<(), LoadError> {
    match &request.demand {
        Some(demand) if !demand.admits(hook) => Err(LoadError::refused(demand.refusal(hook))),
        _ => Ok(()),
    }
}

/// On an instance of its own: `describe` comes before `configure`, and every other instance is configured first.
fn describe(
    engine: &PluginEngine,
    compiled: &Compiled,
    request: &LoadRequest,
    log: &GuestLog,
    started: Instant,
) -> Result<Description, LoadError> {
    let limits = &request.manifest.limits;
    let state = GuestState {
        memory: MemoryLimit::new(limits.memory_max_bytes, request.memory.clone()),
        log: log.clone(),
    };
    let ask = || {
        let left = time_left(started, limits.load_timeout)?;
        let mut guest = Guest::new(engine, compiled, state, limits, left)?;
        guest.describe(engine, time_left(started, limits.load_timeout)?)
    };
    ask().map_err(|failure| LoadError::refused(format!("describe: {failure}")))
}

/// Configures an instance as every later one will be, and asks it once.
fn try_out(
    engine: &PluginEngine,
    mut loaded: Loaded,
    started: Instant,
) -> Result<Loaded, LoadError> {
    let limits = loaded.manifest.limits;
    let refused =
        |what: &str, failure: &CallFailure| LoadError::refused(format!("{what}: {failure}"));
    let setup_started = Instant::now();
    loaded.setup_timeout =
        time_left(started, limits.load_timeout).map_err(|it| refused("configure", &it))?;
    let guest = loaded.guest(engine).map_err(|it| refused("configure", &it))?;
    loaded.setup_timeout =
        setup_started.elapsed().saturating_mul(4).max(limits.call_timeout).min(limits.load_timeout);
    smoke_call(engine, &loaded, guest, started).map_err(|it| refused("smoke call", &it))?;
    Ok(loaded)
}

/// One good answer within the call's limit. A call that ran out of time is made again: the limit is wall time, and
/// this thread may have waited for its core.
fn smoke_call(
    engine: &PluginEngine,
    loaded: &Loaded,
    mut guest: Guest,
    started: Instant,
) -> Result<(), CallFailure> {
    let limits = loaded.manifest.limits;
    let call: Call = smoke::call(loaded.hook());
    for _ in 1..SMOKE_CALLS_MAX {
        let left = time_left(started, limits.load_timeout)?;
        match guest.call(engine, &call, left.min(limits.call_timeout)) {
            Err(failure) if failure.kind == FailureKind::Timeout => {
                drop(guest);
                guest = loaded.guest(engine)?;
            }
            result => return result.map(drop),
        }
    }
    let left = time_left(started, limits.load_timeout)?;
    guest.call(engine, &call, left.min(limits.call_timeout)).map(drop)
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// On Linux `nice` is a thread's; elsewhere it would slow the whole process.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::debug!(%error, "compiling keeps the broker's priority");
    }
}
