//! Admin HTTP: health, metrics, plugins. It listens on loopback by default, and has no authentication.

mod health;
mod metrics;
mod plugins;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;

use crate::api::Rooms;

/// What the pages show.
#[derive(Clone)]
struct Shown {
    rooms: Arc<Rooms>,
    ready: watch::Receiver<bool>,
}

/// Serves until `stop`; `ready` is what `/health/ready` answers.
///
/// # Errors
///
/// Those of the socket.
pub async fn serve(
    listener: TcpListener,
    rooms: Arc<Rooms>,
    ready: watch::Receiver<bool>,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let pages = Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(metrics::show))
        .route("/v1/plugins", get(plugins::list))
        .route("/v1/plugins/{name}/rollback", post(plugins::rollback))
        .with_state(Shown { rooms, ready });
    axum::serve(listener, pages).with_graceful_shutdown(stop.cancelled_owned()).await
}
