//! Accepts connections and gives each a task.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    net::TcpStream,
    sync::OwnedSemaphorePermit,
    task::{JoinError, JoinSet},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use super::{BoundListener, Server, Service, connection::Connection, end::End};
use crate::{
    api::{Client, ClientDetails, Mute},
    telemetry,
};

impl<S: Service> Server<S> {
    /// Serves a listener until `stop`, then returns when its connections have ended: requests that run may finish within
    /// [`super::Limits::stop_grace`].
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
            mute: Mute::default(),
            details: Arc::new(ClientDetails::new(peer.port())),
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
                self.tell(host, &end);
                end.name()
            }
        };
        self.metrics.closed.get_or_create(&[("reason", reason)]).inc();
    }
}

impl<S> Server<S> {
    fn tell(&self, host: IpAddr, end: &End) {
        match end {
            bug if bug.is_bug() => error!(%host, "closed a connection because of a bug: {bug}"),
            End::Lagging if self.lagging.is_due(telemetry::now()) => {
                warn!(%host, "closed a connection, and perhaps more like it: {end}");
            }
            end => debug!(%host, "closed a connection: {end}"),
        }
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
