//! Admin HTTP: health, metrics, plugins. It listens on loopback by default, and has no authentication.

mod connection;
mod crowd;
mod health;
mod metrics;
mod plugins;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    http::StatusCode,
    routing::{get, post},
};
use tokio::{net::TcpListener, sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use self::crowd::Crowd;
use crate::api::Rooms;

/// Connections at a time; one more takes the place of the oldest.
const CONNECTIONS_MAX: usize = 256;
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
    let mut crowd = Crowd::default();
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, _)) => crowd.admit(connection::serve(stream, pages.clone(), stop.clone())),
            Err(error) => {
                tracing::warn!(%error, "accept an HTTP connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    while crowd.tasks.join_next().await.is_some() {}
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
        time::timeout,
    };

    use super::*;

    const HANG: Duration = Duration::from_mins(2);

    #[tokio::test]
    async fn a_health_check_gets_through_a_crowd_of_idle_connections() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_rooms, shown) = watch::channel(None);
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, shown, stop.clone()));
        let mut idle = Vec::new();
        for _ in 0..2 * CONNECTIONS_MAX {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET /hea").await.unwrap();
            idle.push(stream);
        }
        let mut check = TcpStream::connect(address).await.unwrap();
        check.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        let mut status = [0; 12];
        timeout(connection::HEAD_TIMEOUT / 2, check.read_exact(&mut status))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        stop.cancel();
        timeout(HANG, serving).await.unwrap().unwrap();
    }
}
