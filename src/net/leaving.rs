//! Notices a client that leaves while it waits for an answer, when nothing is read from it.
//!
//! Rule: whoever has said all may still listen, as Kafka's clients do not but scripts around `nc` do: what was asked is
//! answered. Only a connection that is reset is over. One that its client has closed looks like one that it only sends no
//! more on, until the system of the client is asked: it answers with a reset once it has forgotten it, on Linux after a minute.

use std::{io, time::Duration};

use socket2::{SockRef, TcpKeepalive};
use tokio::{io::Interest, net::TcpStream};

/// How often the client's system is asked.
const PROBES: Duration = Duration::from_secs(10);

/// Waits until the client sends no more, then until the connection is over. `said_all` is called in between.
pub(super) async fn left(socket: Option<&TcpStream>, said_all: impl FnOnce()) -> io::Error {
    let Some(socket) = socket else { return std::future::pending().await };
    // Not `READABLE`: what was sent and is not read yet says nothing.
    if let Err(error) = socket.ready(Interest::PRIORITY).await {
        return error;
    }
    said_all();
    let probes = TcpKeepalive::new().with_time(PROBES).with_interval(PROBES);
    if let Err(error) = SockRef::from(socket).set_tcp_keepalive(&probes) {
        return error;
    }
    match socket.ready(Interest::ERROR).await {
        Ok(_) => io::ErrorKind::ConnectionReset.into(),
        Err(error) => error,
    }
}
