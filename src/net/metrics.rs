//! What is counted of connections.

use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge};

use crate::telemetry::Metrics;

#[derive(Default)]
pub(super) struct NetMetrics {
    /// Open now.
    pub(super) connections: Gauge,
    pub(super) accepted: Counter,
    /// Closed at once, for their address had as many as it may.
    pub(super) refused: Counter,
    /// Held up or closed for a rate of connections, by what it is of: `ip` or `broker`.
    pub(super) throttled: Family<[(&'static str, &'static str); 1], Counter>,
    pub(super) closed: Family<[(&'static str, &'static str); 1], Counter>,
    pub(super) request_bytes: Counter,
    pub(super) response_bytes: Counter,
    /// Of the budget, taken now.
    pub(super) inflight_bytes: Gauge,
}

impl NetMetrics {
    pub(super) fn register(metrics: &Metrics) -> Self {
        let it = Self::default();
        metrics.register(|registry| {
            registry.register("klamm_connections", "Open connections", it.connections.clone());
            let help = "Connections accepted";
            registry.register("klamm_connections_accepted", help, it.accepted.clone());
            let help = "Connections refused for max.connections.per.ip";
            registry.register("klamm_connections_refused", help, it.refused.clone());
            let help = "Connections held up or closed because they were made too often, by whose rate it was";
            registry.register("klamm_connections_throttled", help, it.throttled.clone());
            let help = "Connections closed, by reason";
            registry.register("klamm_connections_closed", help, it.closed.clone());
            registry.register("klamm_request_bytes", "Bytes of requests", it.request_bytes.clone());
            let help = "Bytes of responses";
            registry.register("klamm_response_bytes", help, it.response_bytes.clone());
            let help = "Bytes of requests that are not answered yet";
            registry.register("klamm_request_inflight_bytes", help, it.inflight_bytes.clone());
        });
        it
    }
}
