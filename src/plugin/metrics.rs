//! What is counted of plugins: the names of design part 3.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
};

use super::{failure::FailureKind, memory::MemoryGauge};
use crate::{base::PluginName, telemetry::Metrics};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Plugin {
    plugin: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failure {
    plugin: String,
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reload {
    plugin: String,
    result: &'static str,
}

/// The families of all plugins.
#[derive(Clone)]
pub(super) struct PluginMetrics {
    calls: Family<Plugin, Counter>,
    records: Family<Plugin, Counter>,
    failures: Family<Failure, Counter>,
    seconds: Family<Plugin, Histogram, fn() -> Histogram>,
    reloads: Family<Reload, Counter>,
    quarantined: Family<Plugin, Gauge>,
    memory: Family<Plugin, Gauge>,
}

/// Those of one plugin.
#[derive(Clone)]
pub(super) struct SlotMetrics {
    plugin: String,
    families: PluginMetrics,
    calls: Counter,
    records: Counter,
    seconds: Histogram,
    quarantined: Gauge,
    memory: MemoryGauge,
}

impl PluginMetrics {
    pub(super) fn new(metrics: &Metrics) -> Self {
        let it = Self {
            calls: Family::default(),
            records: Family::default(),
            failures: Family::default(),
            seconds: Family::new_with_constructor(call_seconds),
            reloads: Family::default(),
            quarantined: Family::default(),
            memory: Family::default(),
        };
        it.register(metrics);
        it
    }

    fn register(&self, metrics: &Metrics) {
        metrics.register(|registry| {
            registry.register("klamm_plugin_calls", "Calls of a plugin's hook", self.calls.clone());
            registry.register(
                "klamm_plugin_records",
                "Records that a plugin was called with",
                self.records.clone(),
            );
            registry.register(
                "klamm_plugin_failures",
                "Failed calls by kind",
                self.failures.clone(),
            );
            registry.register(
                "klamm_plugin_call_seconds",
                "Duration of a call without its wait for a thread",
                self.seconds.clone(),
            );
            registry.register(
                "klamm_plugin_reloads",
                "Loads of a plugin by result",
                self.reloads.clone(),
            );
            registry.register(
                "klamm_plugin_quarantined",
                "1 while a plugin is left alone after failures",
                self.quarantined.clone(),
            );
            registry.register(
                "klamm_plugin_memory_bytes",
                "Linear memory of a plugin's instances",
                self.memory.clone(),
            );
        });
    }

    pub(super) fn of(&self, name: &PluginName) -> SlotMetrics {
        let label = Plugin { plugin: name.to_string() };
        // From the start, so that an alert on their growth sees the first one.
        for kind in FailureKind::ALL {
            let label = Failure { plugin: name.to_string(), kind: kind.label() };
            drop(self.failures.get_or_create(&label));
        }
        SlotMetrics {
            plugin: name.to_string(),
            families: self.clone(),
            calls: self.calls.get_or_create(&label).clone(),
            records: self.records.get_or_create(&label).clone(),
            seconds: self.seconds.get_or_create(&label).clone(),
            quarantined: self.quarantined.get_or_create(&label).clone(),
            memory: self.memory.get_or_create(&label).clone(),
        }
    }
}

impl SlotMetrics {
    pub(super) fn called(&self, records: usize, seconds: f64) {
        self.calls.inc();
        self.records.inc_by(records as u64);
        self.seconds.observe(seconds);
    }

    pub(super) fn failed(&self, kind: FailureKind) {
        let label = Failure { plugin: self.plugin.clone(), kind: kind.label() };
        self.families.failures.get_or_create(&label).inc();
    }

    pub(super) fn reloaded(&self, result: &'static str) {
        let label = Reload { plugin: self.plugin.clone(), result };
        self.families.reloads.get_or_create(&label).inc();
    }

    pub(super) fn set_quarantined(&self, quarantined: bool) {
        self.quarantined.set(i64::from(quarantined));
    }

    /// The sum that guests add their memory to.
    pub(super) fn memory(&self) -> MemoryGauge {
        self.memory.clone()
    }
}

/// 10 µs to 5 s: a call for a small batch takes a few, the limit is 100 ms.
fn call_seconds() -> Histogram {
    Histogram::new(exponential_buckets(10e-6, 2.0, 20))
}
