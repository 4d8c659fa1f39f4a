//! What is counted of deliveries, by sink.

use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge};

use crate::telemetry::Metrics;

type SinkLabel = [(&'static str, String); 1];

/// The families of all sinks.
#[derive(Clone, Default)]
pub(super) struct DeliveryMetrics {
    updates: Family<SinkLabel, Counter>,
    failures: Family<SinkLabel, Counter>,
    lag: Family<SinkLabel, Gauge>,
}

/// Those of one sink.
pub(super) struct SinkMetrics {
    pub(super) updates: Counter,
    pub(super) failures: Counter,
    /// Offsets of `__klamm_alerts` that are not delivered yet.
    pub(super) lag: Gauge,
}

impl DeliveryMetrics {
    pub(super) fn register(metrics: &Metrics) -> Self {
        let it = Self::default();
        metrics.register(|registry| {
            let help = "Updates of alerts that a sink took";
            registry.register("klamm_sink_deliveries", help, it.updates.clone());
            let help = "Posts that a sink did not take; they are posted again";
            registry.register("klamm_sink_failures", help, it.failures.clone());
            let help = "Updates of alerts that a sink has not taken yet";
            registry.register("klamm_sink_lag", help, it.lag.clone());
        });
        it
    }

    pub(super) fn of(&self, sink: &str) -> SinkMetrics {
        let label = [("sink", sink.to_owned())];
        SinkMetrics {
            updates: self.updates.get_or_create(&label).clone(),
            failures: self.failures.get_or_create(&label).clone(),
            lag: self.lag.get_or_create(&label).clone(),
        }
    }
}
