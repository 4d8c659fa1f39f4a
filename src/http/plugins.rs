//! `/v1/plugins`: what is loaded, and back to the version before.

use axum::{
    Json,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header::ORIGIN},
};

use super::Shown;
use crate::plugin::{PluginError, PluginStatus};

/// All plugins, sorted by name (design part 3).
pub(super) async fn list(
    State(shown): State<Shown>,
) -> Result<Json<Vec<PluginStatus>>, (StatusCode, String)> {
    Ok(Json(shown.rooms()?.plugins.status()))
}

/// Puts the version that ran before into use again, until the file changes.
pub(super) async fn rollback(
    State(shown): State<Shown>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Json<PluginStatus>, (StatusCode, String)> {
    // A page in somebody's browser must not be able to do it.
    if headers.contains_key(ORIGIN) {
        return Err((StatusCode::FORBIDDEN, "not from a browser\n".into()));
    }
    let status = shown.rooms()?.plugins.rollback(&name.as_str().into());
    status.map(Json).map_err(|error| (status_of(&error), format!("{error}\n")))
}

fn status_of(error: &PluginError) -> StatusCode {
    match error {
        PluginError::Unknown(_) => StatusCode::NOT_FOUND,
        PluginError::NoEarlierVersion(_) => StatusCode::CONFLICT,
        PluginError::Engine(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
