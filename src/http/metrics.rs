//! `/metrics`, for Prometheus.

use axum::{
    extract::State,
    http::{HeaderName, header::CONTENT_TYPE},
};

use super::Shown;

/// The format that `prometheus-client` writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) async fn show(State(shown): State<Shown>) -> ([(HeaderName, &'static str); 1], String) {
    ([(CONTENT_TYPE, OPEN_METRICS)], shown.rooms.metrics.encode())
}
