//! Reads the frames of a connection, none faster than the common budget allows.

use std::{io, sync::Arc, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    io::{AsyncRead, AsyncReadExt, BufReader},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{Limits, connection::End};
use crate::wire::frame::{self, LENGTH_BYTES};

/// Saves a system call for each small request.
const BUFFER_BYTES: usize = 8 * 1024;

/// A request's bytes, less the length before them.
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    pub(super) held: Held,
}

/// A request's share of the budget, given back when dropped.
pub(super) struct Held {
    _permit: OwnedSemaphorePermit,
    gauge: Gauge,
    bytes: i64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gauge.dec_by(self.bytes);
    }
}

/// The request bytes that all connections together may hold.
#[derive(Clone)]
pub(super) struct Budget {
    permits: Arc<Semaphore>,
    max_bytes: usize,
    gauge: Gauge,
}

impl Budget {
    pub(super) fn new(max_bytes: usize, gauge: Gauge) -> Self {
        Self { permits: Arc::new(Semaphore::new(max_bytes)), max_bytes, gauge }
    }

    /// Waits until `bytes` more may be held. A frame beyond the whole budget waits to have it to itself.
    async fn take(&self, bytes: usize) -> Held {
        let permits = Arc::clone(&self.permits);
        let permit = permits
            .acquire_many_owned(bytes.min(self.max_bytes) as u32)
            .await
            .expect("the budget is never closed");
        self.gauge.inc_by(bytes as i64);
        Held { _permit: permit, gauge: self.gauge.clone(), bytes: bytes as i64 }
    }
}

/// The reading half of a connection.
pub(super) struct Frames<R> {
    reader: BufReader<R>,
    budget: Budget,
    request_max_bytes: usize,
    idle: Duration,
    body: Duration,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(super) fn new(reader: R, budget: Budget, limits: &Limits) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER_BYTES, reader),
            budget,
            request_max_bytes: limits.request_max_bytes,
            idle: limits.idle,
            body: limits.body,
        }
    }

    /// The next frame; `None` when the client has said all. `waiting` tells whether the client waits for answers, for
    /// then its silence is not idleness.
    pub(super) async fn next(&mut self, waiting: impl Fn() -> bool) -> Result<Option<Frame>, End> {
        let Some(prefix) = self.prefix(waiting).await? else {
            return Ok(None);
        };
        let length = frame::parse_length(prefix, self.request_max_bytes)?;
        // Before the body is read: a client that must wait is not read from, and TCP holds it back.
        let held = self.budget.take(length).await;
        let read = timeout(self.body, self.read_body(length)).await;
        let bytes = read.map_err(|_| End::Stalled("the body of a request did not arrive"))??;
        Ok(Some(Frame { bytes, held }))
    }

    async fn prefix(
        &mut self,
        waiting: impl Fn() -> bool,
    ) -> Result<Option<[u8; LENGTH_BYTES]>, End> {
        let mut prefix = [0; LENGTH_BYTES];
        let mut rest = &mut prefix[..];
        while rest.has_remaining_mut() {
            let begun = rest.len() < LENGTH_BYTES;
            match timeout(self.idle, self.reader.read_buf(&mut rest)).await {
                Ok(Ok(0)) if begun => return Err(unexpected_eof()),
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(End::Io(error)),
                Err(_) if waiting() => {}
                Err(_) => return Err(End::Idle),
            }
        }
        Ok(Some(prefix))
    }

    async fn read_body(&mut self, length: usize) -> Result<Bytes, End> {
        let mut body = BytesMut::new();
        while body.len() < length {
            frame::grow(&mut body, length);
            let missing = length - body.len();
            if self.reader.read_buf(&mut (&mut body).limit(missing)).await? == 0 {
                return Err(unexpected_eof());
            }
        }
        Ok(body.freeze())
    }
}

fn unexpected_eof() -> End {
    End::Io(io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the client left in the middle of a request",
    ))
}
