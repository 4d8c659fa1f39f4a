//! Admin HTTP: health, metrics, plugins. It listens on loopback by default, and has no authentication.

mod connection;
mod health;
mod metrics;
mod plugins;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    http::StatusCode,
    routing::{get, post},
};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::api::Rooms;

/// Connections at a time; more wait in the backlog.
const CONNECTIONS_MAX: u32 = 256;
/// After a failed accept, which is most often one for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What the pages show: nothing but health before the node serves, and when it stops.
#[derive(Clone)]
struct Shown(watch::Receiver<Option<Arc<Rooms>>>);

impl Shown {
    /// The rooms of a node that serves.
    ///
    /// # Errors
    ///
    /// 503 while there are none.
    fn rooms(&self) -> Result<Arc<Rooms>, (StatusCode, String)> {
        let rooms = self.0.borrow().clone();
        rooms.ok_or_else(|| (StatusCode::SERVICE_UNAVAILABLE, "not ready\n".into()))
    }
}

/// Serves until `stop`, also while the node starts: `rooms` are there when it serves.
pub async fn serve(
    listener: TcpListener,
    rooms: watch::Receiver<Option<Arc<Rooms>>>,
    stop: CancellationToken,
) {
    let pages = Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(metrics::show))
        .route("/v1/plugins", get(plugins::list))
        .route("/v1/plugins/{name}/rollback", post(plugins::rollback))
        .with_state(Shown(rooms));
    accept(&listener, &pages, &stop).await;
}

/// Serves each connection in a task of its own, and waits for all of them after a stop.
async fn accept(listener: &TcpListener, pages: &Router, stop: &CancellationToken) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX as usize));
    while let Some(Ok(place)) = stop.run_until_cancelled(Arc::clone(&room).acquire_owned()).await {
        match stop.run_until_cancelled(listener.accept()).await {
            Some(Ok((stream, _))) => {
                let serve = connection::serve(stream, pages.clone(), stop.clone());
                tokio::spawn(async move {
                    serve.await;
                    drop(place);
                });
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "accept an HTTP connection");
                sleep(ACCEPT_PAUSE).await;
            }
            None => break,
        }
    }
    // Fails only if it were closed.
    let _ = room.acquire_many(CONNECTIONS_MAX).await;
}
