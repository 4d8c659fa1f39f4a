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

use super::{BoundListener, Server, Service, connection::Connection, end::End, per_ip::Place};
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
                        let Some(place) = self.place(peer.ip()) else { continue };
                        let client = self.client(&listener, peer);
                        let (server, stop) = (Arc::clone(&self), stop.clone());
                        tasks.spawn(server.connected(stream, client, stop, (slot, place)));
                    }
                    Err(error) => self.pause_after(&listener, &error).await,
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
        if slots.available_permits() == 0 && self.paces.full.is_due(telemetry::now()) {
            let connections = self.limits.connections_max;
            warn!(connections, "all connections are taken: more wait until others end");
        }
        let slot = slots.acquire_owned().await.expect("the slots are never closed");
        (slot, listener.accept().await)
    }

    /// A place among the connections of an address.
    fn place(&self, host: IpAddr) -> Option<Place> {
        let place = self.per_ip.enter(host);
        if place.is_none() {
            self.metrics.refused.inc();
            if self.paces.per_ip.is_due(telemetry::now()) {
                warn!(%host, "refused a connection, and perhaps more: its address has max.connections.per.ip");
            }
        }
        place
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
        _taken: (OwnedSemaphorePermit, Place),
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
            End::Unreadable(_) if self.paces.unreadable.is_due(telemetry::now()) => {
                error!(%host, "closed a connection in the middle of an answer: {end}");
            }
            End::Lagging if self.paces.lagging.is_due(telemetry::now()) => {
                warn!(%host, "closed a connection, and perhaps more like it: {end}");
            }
            end => debug!(%host, "closed a connection: {end}"),
        }
    }
}

impl<S> Server<S> {
    /// The system is out of descriptors or memory, or a client left before it was accepted; trying again at once would
    /// spin.
    async fn pause_after(&self, listener: &BoundListener, error: &io::Error) {
        if self.paces.accept.is_due(telemetry::now()) {
            warn!(listener = listener.name(), "could not accept a connection: {error}");
        }
        sleep(Duration::from_millis(100)).await;
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

/// No task ends unseen.
fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        error!("a connection's task ended: {error}");
    }
}
