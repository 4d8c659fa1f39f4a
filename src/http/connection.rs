//! One HTTP connection, with an end: a client that dawdles holds up neither the others nor a stop.

use std::{pin::pin, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// How long the head of a request may take to arrive, and a connection may idle between two.
pub(super) const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection is closed after so long, between two requests; scrapers connect again.
const LIFETIME: Duration = Duration::from_mins(5);
/// How long a request under way may go on after that, or after a stop.
const GRACE: Duration = Duration::from_secs(2);

/// Serves a connection until the client is done, its time is up, or the node stops.
pub(super) async fn serve(stream: TcpStream, pages: Router, stop: CancellationToken) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(pages));
    let mut connection = pin!(connection);
    tokio::select! {
        // A client's mistake was answered where it could be.
        _ = connection.as_mut() => return,
        () = stop.cancelled() => {}
        () = sleep(LIFETIME) => {}
    }
    connection.as_mut().graceful_shutdown();
    // Whoever needs longer is cut off.
    let _ = timeout(GRACE, connection).await;
}
