//! The sockets that clients connect to.

use std::{io, net::SocketAddr, sync::Arc};

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream, lookup_host};

use crate::config::Listener;

/// Connections that the system holds while none is accepted.
const BACKLOG: i32 = 1024;

/// A socket that clients can connect to already; they are served once it is.
pub struct BoundListener {
    pub(super) name: Arc<str>,
    address: SocketAddr,
    socket: TcpListener,
}

/// Binds a listener of the configuration; port 0 picks a free one. An empty host means every interface.
///
/// # Errors
///
/// The host has no address, or the address is taken or not this machine's.
pub async fn bind(listener: &Listener) -> io::Result<BoundListener> {
    let host = if listener.host.is_empty() { "0.0.0.0" } else { &listener.host };
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in lookup_host((host, listener.port)).await? {
        match listen(address) {
            Ok(socket) => {
                let address = socket.local_addr()?;
                return Ok(BoundListener { name: listener.name.as_str().into(), address, socket });
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A restarted node takes its port over from connections that linger in TIME_WAIT.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

impl BoundListener {
    /// The address with the port that was picked.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The listener's name in the configuration.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.socket.accept().await?;
        // Both fail of a client that has left already, as its connection will: no other one is to wait for that.
        // Answers are written whole: waiting to fill a segment only delays them.
        let _ = stream.set_nodelay(true);
        // Tells of peers that went away without a word.
        let _ = SockRef::from(&stream).set_keepalive(true);
        Ok((stream, peer))
    }
}
