//! `/metrics`, for Prometheus.

use axum::{
    extract::State,
    http::{HeaderName, StatusCode, header::CONTENT_TYPE},
};

use super::Shown;

/// The format that `prometheus-client` writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The content type, and the text.
type Page = ([(HeaderName, &'static str); 1], String);

pub(super) async fn show(State(shown): State<Shown>) -> Result<Page, (StatusCode, String)> {
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], shown.rooms()?.metrics.encode()))
}
