//! Metrics that clients push: the room that takes them, with a clock, and what `/metrics` tells of them.

use std::{
    fmt,
    sync::{Arc, OnceLock, Weak},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Context;
use crate::{
    base::ErrorCode,
    client_metrics::{Client, ClientMetrics, PushError},
    metadata::MetadataImage,
    telemetry::Metrics,
};

/// Longest name or version of a client's software that is remembered for its connection.
const SOFTWARE_BYTES_MAX: usize = 256;

/// The metrics of clients.
pub struct Telemetry {
    pub(super) clients: ClientMetrics,
    started: Instant,
}

impl Telemetry {
    /// `max_bytes` is `telemetry.max.bytes`.
    pub fn new(max_bytes: usize, metrics: &Metrics) -> Arc<Self> {
        let telemetry =
            Arc::new(Self { clients: ClientMetrics::new(max_bytes), started: Instant::now() });
        let collector = SeriesCollector(Arc::downgrade(&telemetry));
        metrics.register(|it| it.register_collector(Box::new(collector)));
        telemetry
    }

    /// Takes the subscriptions of an image.
    pub fn apply(&self, image: &MetadataImage) {
        self.clients.apply(image);
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.started.elapsed().as_millis() as i64
    }
}

/// What a connection tells of its client, besides what each request does.
#[derive(Debug, Default)]
pub struct ClientDetails {
    pub port: u16,
    software: OnceLock<(String, String)>,
    /// Cancelled once the client sends no more: it need not be kept waiting for what may still come.
    pub said_all: CancellationToken,
}

impl ClientDetails {
    pub fn new(port: u16) -> Self {
        Self { port, ..Self::default() }
    }

    /// As `ApiVersions` has it; a client tells it once.
    pub(super) fn tell_software(&self, name: &str, version: &str) {
        if name.len().max(version.len()) <= SOFTWARE_BYTES_MAX {
            let _ = self.software.set((name.into(), version.into()));
        }
    }

    /// Calls with the client of a request as the room knows it.
    pub(super) fn with_client<T>(
        context: &Context,
        instance_id: Uuid,
        act: impl FnOnce(&Client<'_>) -> T,
    ) -> T {
        let details = &context.details;
        let (name, version) =
            details.software.get().map_or(("", ""), |(name, version)| (name, version));
        let address = context.client_host.to_string();
        act(&Client {
            instance_id,
            client_id: &context.client_id,
            software_name: name,
            software_version: version,
            address: &address,
            port: details.port,
        })
    }
}

pub(super) fn error_code(error: PushError) -> ErrorCode {
    match error {
        PushError::Terminated => ErrorCode::InvalidRequest,
        PushError::TooSoon => ErrorCode::ThrottlingQuotaExceeded,
        PushError::UnknownSubscription => ErrorCode::UnknownSubscriptionId,
        PushError::UnsupportedCompression => ErrorCode::UnsupportedCompressionType,
        PushError::TooLarge => ErrorCode::TelemetryTooLarge,
        PushError::Unreadable => ErrorCode::InvalidRecord,
    }
}

/// Tells of the series for as long as they live.
struct SeriesCollector(Weak<Telemetry>);

impl fmt::Debug for SeriesCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SeriesCollector")
    }
}

impl Collector for SeriesCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(telemetry) = self.0.upgrade() else { return Ok(()) };
        let dropped = ConstCounter::new(telemetry.clients.dropped());
        let help =
            "Numbers that clients pushed and that were not kept: too many, or names too long";
        dropped.encode(encoder.encode_descriptor(
            "klamm_client_metrics_dropped",
            help,
            None,
            dropped.metric_type(),
        )?)?;
        let mut series = Vec::new();
        let keep = |key: &_, it: &_| series.push((labels(key), ConstGauge::new(value(it))));
        telemetry.clients.for_each_series(telemetry.now_ms(), keep);
        let Some((_, first)) = series.first() else { return Ok(()) };
        let help = "What clients pushed last, of deltas the sum";
        let kind = first.metric_type();
        let mut family = encoder.encode_descriptor("klamm_client_metric", help, None, kind)?;
        series.iter().try_for_each(|(labels, it)| it.encode(family.encode_family(labels)?))
    }
}

fn value(series: &crate::client_metrics::Series) -> f64 {
    series.value
}

fn labels(key: &crate::client_metrics::SeriesKey) -> [(&'static str, String); 4] {
    [
        ("metric", key.metric.clone()),
        ("client_id", key.client_id.clone()),
        ("client_instance_id", key.client_instance_id.clone()),
        ("attributes", key.attributes.clone()),
    ]
}
