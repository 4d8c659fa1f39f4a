//! The engine: one for the process, as measured to be best, and the clock that interrupts its guests.
//!
//! Epochs stop a guest that loops. They tick each millisecond, but only while calls run: an idle broker sleeps.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use wasmtime::{
    Cache, Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
};

use super::{failure::Chain, limits::TABLE_ELEMENTS_MAX};

const TICK: Duration = Duration::from_millis(1);

/// Ticks without a running call before the clock stops: batches come in bursts.
const IDLE_TICKS: u32 = 50;

/// Ticks that one late wake-up may make up for. More would punish guests for a pause of the whole process.
const CATCH_UP_TICKS_MAX: u128 = 8;

/// Instances that a thread may keep; see `guests.rs`.
pub(super) const GUESTS_PER_THREAD_MAX: usize = 16;

/// Instances beside those of the threads: of loads, checks, and one-off calls.
const SPARE_INSTANCES: usize = 8;

/// Compiles and runs components.
pub(super) struct PluginEngine {
    wasm: Engine,
    clock: Arc<Clock>,
    thread: Option<JoinHandle<()>>,
}

/// A running call: the clock ticks while it lives.
pub(super) struct Ticking<'a>(&'a Clock);

struct Clock {
    running: AtomicUsize,
    asleep: AtomicBool,
    ended: AtomicBool,
}

impl PluginEngine {
    /// `threads` sizes the pool of instances, `memory_max_bytes` each one's memory. Without a cache each load
    /// compiles anew.
    pub(super) fn new(
        threads: usize,
        memory_max_bytes: usize,
        cache: Option<Cache>,
    ) -> Result<Self, String> {
        let wasm = open(threads, memory_max_bytes, cache)?;
        let clock = Arc::new(Clock::new());
        let thread = start_clock(wasm.clone(), clock.clone())?;
        Ok(Self { wasm, clock, thread: Some(thread) })
    }

    pub(super) fn wasm(&self) -> &Engine {
        &self.wasm
    }

    /// Hold this while a guest runs.
    pub(super) fn ticking(&self) -> Ticking<'_> {
        self.clock.running.fetch_add(1, Ordering::SeqCst);
        if self.clock.asleep.swap(false, Ordering::SeqCst)
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
        Ticking(&self.clock)
    }
}

impl Drop for PluginEngine {
    fn drop(&mut self) {
        self.clock.ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It cannot have panicked, and there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Clock {
    fn new() -> Self {
        Self {
            running: AtomicUsize::new(0),
            asleep: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        }
    }

    fn is_idle(&self) -> bool {
        self.running.load(Ordering::SeqCst) == 0
    }

    /// Sleeps until a call begins. `asleep` is set before the last look at `running`, and `ticking` looks at it
    /// after it has counted itself, so one of both sees the other.
    fn sleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
        if !self.is_idle() {
            self.asleep.store(false, Ordering::SeqCst);
        }
        while self.asleep.load(Ordering::SeqCst) && !self.ended.load(Ordering::SeqCst) {
            thread::park();
        }
    }
}

fn start_clock(engine: Engine, clock: Arc<Clock>) -> Result<JoinHandle<()>, String> {
    thread::Builder::new()
        .name("plugin-clock".into())
        .spawn(move || tick(&engine, &clock))
        .map_err(|error| error.to_string())
}

fn tick(engine: &Engine, clock: &Clock) {
    let (mut last, mut idle) = (Instant::now(), 0);
    while !clock.ended.load(Ordering::SeqCst) {
        thread::sleep(TICK);
        let ticks = (last.elapsed().as_millis()).clamp(1, CATCH_UP_TICKS_MAX);
        last = Instant::now();
        (0..ticks).for_each(|_| engine.increment_epoch());
        idle = if clock.is_idle() { idle + 1 } else { 0 };
        if idle > IDLE_TICKS {
            clock.sleep();
            (last, idle) = (Instant::now(), 0);
        }
    }
}

/// An engine that reserves 4 GiB of addresses for each instance; where the process may not have so many (`ulimit -v`),
/// one that reserves what an instance may use.
fn open(threads: usize, memory_max_bytes: usize, cache: Option<Cache>) -> Result<Engine, String> {
    let pool = pool(threads, memory_max_bytes);
    let mut config = settings(pool, cache);
    let error = match Engine::new(&config) {
        Ok(engine) => return Ok(engine),
        Err(error) => Chain(&error).to_string(),
    };
    config.memory_reservation(memory_max_bytes as u64).memory_guard_size(0);
    let engine = Engine::new(&config).map_err(|error| {
        let error = Chain(&error);
        format!(
            "{error}; each of {} instances needs {memory_max_bytes} bytes of addresses: raise `ulimit -v`, or lower \
             klamm.plugin.threads or klamm.plugin.memory.max.bytes",
            instances(threads)
        )
    })?;
    tracing::warn!(
        error,
        "plugins run slower, with their memory accesses checked one by one: the process may reserve too few addresses \
         (`ulimit -v`)"
    );
    Ok(engine)
}

/// What was measured to be best. Memory reservation (4 GiB), guard (32 MiB), stack (512 KiB) and signal-based traps
/// stay at their defaults: anything smaller costs bounds checks.
fn settings(pool: PoolingAllocationConfig, cache: Option<Cache>) -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .epoch_interruption(true)
        .consume_fuel(false)
        .cranelift_opt_level(OptLevel::Speed)
        .memory_init_cow(true)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .cache(cache);
    config
}

fn instances(threads: usize) -> u32 {
    u32::try_from(threads * (GUESTS_PER_THREAD_MAX + 1) + SPARE_INSTANCES).unwrap_or(u32::MAX)
}

fn pool(threads: usize, memory_max_bytes: usize) -> PoolingAllocationConfig {
    let instances = instances(threads);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(4))
        .total_memories(instances)
        .total_tables(instances.saturating_mul(2))
        .max_memory_size(memory_max_bytes)
        .table_elements(TABLE_ELEMENTS_MAX)
        // Above the first megabyte that a Rust guest touches; resident only where pages were touched.
        .linear_memory_keep_resident(2 << 20)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto)
        .max_unused_warm_slots(4)
        .max_core_instances_per_component(20);
    pool
}
