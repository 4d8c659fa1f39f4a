//! `/health/live` and `/health/ready`, for whatever restarts nodes and sends them clients.

use axum::{extract::State, http::StatusCode};

use super::Shown;

/// The process answers.
pub(super) async fn live() -> &'static str {
    "live\n"
}

/// 200 while the node serves, 503 before and while it stops.
pub(super) async fn ready(
    State(shown): State<Shown>,
) -> Result<&'static str, (StatusCode, String)> {
    shown.rooms().map(|_| "ready\n")
}
