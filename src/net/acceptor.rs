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
    task::{JoinError, JoinSet},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use super::{
    BoundListener, Server, Service,
    connection::Connection,
    connection_quotas::{Admitted, Refused},
    end::End,
};
use crate::{
    api::{Busy, Client, ClientDetails, Mute},
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
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        let client = self.client(&listener, peer);
                        let admitted = self.admit(&client, stop.child_token());
                        let Some(admitted) = stop.run_until_cancelled(admitted).await else { break };
                        match admitted {
                            Ok(admitted) => {
                                tasks.spawn(Arc::clone(&self).connected(stream, client, admitted));
                            }
                            Err(Refused::TooMany) => drop(stream),
                            Err(Refused::TooOften(wait)) => self.close_after(stream, wait, &stop, &mut tasks),
                        }
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

    /// Waits until a connection may be served, if it may. Meanwhile its listener accepts no other.
    async fn admit(&self, client: &Client, leave: CancellationToken) -> Result<Admitted, Refused> {
        let delay = self.quotas.delay();
        if !delay.is_zero() {
            self.metrics.throttled.get_or_create(&[("of", "broker")]).inc();
        }
        if self.quotas.is_full() && self.paces.full.is_due(telemetry::now()) {
            let connections = self.quotas.max();
            warn!(connections, "all connections are taken: more wait until others end");
        }
        let (id, host) = (client.connection_id, client.host);
        let admitted = self.quotas.admit(id, host, delay, leave).await;
        match admitted {
            Ok(_) => {}
            Err(Refused::TooOften(_)) => {
                self.metrics.throttled.get_or_create(&[("of", "ip")]).inc();
            }
            Err(Refused::TooMany) => {
                self.metrics.refused.inc();
                if self.paces.per_ip.is_due(telemetry::now()) {
                    warn!(%host, "refused a connection, and perhaps more: its address has max.connections.per.ip");
                }
            }
        }
        admitted
    }

    /// As in Kafka, so that a client which connects again at once does not come faster than it may.
    fn close_after(
        &self,
        stream: TcpStream,
        wait: Duration,
        stop: &CancellationToken,
        tasks: &mut JoinSet<()>,
    ) {
        let Some(kept) = self.quotas.keep() else { return };
        let stop = stop.clone();
        tasks.spawn(async move {
            stop.run_until_cancelled(sleep(wait)).await;
            drop((stream, kept));
        });
    }

    fn client(&self, listener: &BoundListener, peer: SocketAddr) -> Client {
        Client {
            host: peer.ip(),
            connection_id: self.next_connection_id.fetch_add(1, Ordering::Relaxed),
            listener: Arc::clone(&listener.name),
            mute: Mute::default(),
            busy: Busy::default(),
            details: Arc::new(ClientDetails::new(peer.port())),
        }
    }

    /// A connection's task.
    async fn connected(self: Arc<Self>, mut stream: TcpStream, client: Client, admitted: Admitted) {
        self.metrics.accepted.inc();
        let _open = Open::count(&self.metrics.connections);
        let (reader, writer) = stream.split();
        let connection = Connection::new(&self, &client, &admitted.slot);
        let counts_time = || self.service.counts_time();
        let ended = client.busy.count(counts_time, connection.run(reader, writer)).await;
        self.service.ended(&client);
        let reason = match ended {
            Ok(()) if admitted.slot.seat().is_excess() => "excess",
            Ok(()) => "done",
            Err(end) => {
                self.tell(client.host, &end);
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
    /// The system is out of descriptors or memory: trying again at once would spin. For a client that left before it was accepted
    /// nobody else waits.
    async fn pause_after(&self, listener: &BoundListener, error: &io::Error) {
        if error.kind() == io::ErrorKind::ConnectionAborted {
            return;
        }
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
