//! Accepts connections and gives each a task.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore},
    task::{JoinError, JoinSet},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use super::{BoundListener, Limits, budget::Budget, connection::Connection, metrics::NetMetrics};
use crate::{
    api::{Client, Outcome, Requests, Rooms},
    telemetry::Metrics,
    wire::guard,
};

/// What answers requests: `api`, and in tests something smaller.
pub trait Service: Send + Sync + 'static {
    /// Begins a request. It does not block: what takes time goes into the outcome.
    fn call(&self, client: &Client, frame: Bytes) -> Outcome;

    /// The longest frame of an API, where it is shorter than the longest of all: more of it is not read.
    fn frame_bytes_max(&self, api_key: i16) -> Option<usize>;
}

impl Service for Requests {
    fn call(&self, client: &Client, frame: Bytes) -> Outcome {
        Requests::call(self, client, frame)
    }

    fn frame_bytes_max(&self, api_key: i16) -> Option<usize> {
        guard::frame_bytes_max(api_key)
    }
}

/// What all listeners of a node share: the service, the limits, the budget.
pub struct Server<S> {
    pub(super) service: S,
    pub(super) limits: Limits,
    pub(super) budget: Budget,
    pub(super) metrics: NetMetrics,
    connections: Arc<Semaphore>,
    next_connection_id: AtomicU64,
}

impl Server<Requests> {
    /// The server of a node. It registers its metrics, so it is made once, for all listeners.
    pub fn of(rooms: Arc<Rooms>) -> Arc<Self> {
        let limits = Limits::new(&rooms.config.net);
        let metrics = Arc::clone(&rooms.metrics);
        Self::new(Requests::new(rooms), limits, &metrics)
    }
}

impl<S: Service> Server<S> {
    pub fn new(service: S, limits: Limits, metrics: &Metrics) -> Arc<Self> {
        let metrics = NetMetrics::register(metrics);
        Arc::new(Self {
            service,
            budget: Budget::new(&limits, metrics.inflight_bytes.clone()),
            connections: Arc::new(Semaphore::new(limits.connections_max)),
            limits,
            metrics,
            next_connection_id: AtomicU64::new(0),
        })
    }

    /// Serves a listener until `stop`, then returns when its connections have ended: requests that run may finish within
    /// [`Limits::stop_grace`].
    pub async fn serve(self: Arc<Self>, listener: BoundListener, stop: CancellationToken) {
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(ended) = tasks.join_next(), if !tasks.is_empty() => report(ended),
                (slot, accepted) = self.accept(&listener) => match accepted {
                    Ok((stream, peer)) => {
                        let client = self.client(&listener, peer);
                        let (server, stop) = (Arc::clone(&self), stop.clone());
                        tasks.spawn(server.connected(stream, client, stop, slot));
                    }
                    Err(error) => pause_after(&listener, &error).await,
                },
            }
        }
        drop(listener);
        while let Some(ended) = tasks.join_next().await {
            report(ended);
        }
    }

    /// Waits for room for one more connection, then for the connection.
    async fn accept(
        &self,
        listener: &BoundListener,
    ) -> (OwnedSemaphorePermit, io::Result<(TcpStream, SocketAddr)>) {
        let slots = Arc::clone(&self.connections);
        let slot = slots.acquire_owned().await.expect("the slots are never closed");
        (slot, listener.accept().await)
    }

    fn client(&self, listener: &BoundListener, peer: SocketAddr) -> Client {
        Client {
            host: peer.ip(),
            connection_id: self.next_connection_id.fetch_add(1, Ordering::Relaxed),
            listener: Arc::clone(&listener.name),
        }
    }

    /// A connection's task.
    async fn connected(
        self: Arc<Self>,
        mut stream: TcpStream,
        client: Client,
        stop: CancellationToken,
        _slot: OwnedSemaphorePermit,
    ) {
        self.metrics.accepted.inc();
        let _open = Open::count(&self.metrics.connections);
        let host = client.host;
        let (reader, writer) = stream.split();
        let ended = Connection::new(&self, client, &stop).run(reader, writer).await;
        let reason = match ended {
            Ok(()) => "done",
            Err(end) => {
                if end.is_bug() {
                    error!(%host, "closed a connection because of a bug: {end}");
                } else {
                    debug!(%host, "closed a connection: {end}");
                }
                end.name()
            }
        };
        self.metrics.closed.get_or_create(&[("reason", reason)]).inc();
    }
}

/// Counts a connection as open until dropped, however its task ends.
struct Open(Gauge);

impl Open {
    fn count(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The system is out of descriptors or memory, or a client left before it was accepted; trying again at once would spin.
async fn pause_after(listener: &BoundListener, error: &io::Error) {
    warn!(listener = listener.name(), "accept a connection: {error}");
    sleep(Duration::from_millis(100)).await;
}

/// No task ends unseen.
fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        error!("a connection's task ended: {error}");
    }
}
