//! The body of a frame while it arrives.
//!
//! Rule: its room grows with what has arrived, never with what was announced, and no faster than the common budget allows.

use std::{io, pin::pin, sync::Arc};

use bytes::{BufMut, Bytes};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::{Instant, timeout},
};

use super::{
    Limits, Server,
    budget::Held,
    end::End,
    frame_buffers::{BUFFER_BYTES, Buffer, FrameBuffers},
    patience::at_once,
    progress::Progress,
};
use crate::wire::frame;

/// What has arrived of a body, and the room for more.
pub(super) struct Body<'a> {
    length: usize,
    bytes: Buffer,
    held: Held,
    /// From when it first had to be waited for: what is there when it is looked for is not late.
    progress: Option<Progress>,
    buffers: &'a Arc<FrameBuffers>,
    limits: &'a Limits,
}

impl<'a> Body<'a> {
    /// Of `length` bytes of which none has arrived.
    pub(super) fn new<S>(server: &'a Server<S>, length: usize) -> Self {
        Self {
            length,
            bytes: Buffer::default(),
            held: server.budget.begin(length),
            progress: None,
            buffers: &server.buffers,
            limits: &server.limits,
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.bytes.len() == self.length
    }

    pub(super) fn arrived(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, which keep their share of the budget.
    pub(super) fn into_bytes(self) -> Bytes {
        self.held.with(self.bytes)
    }

    /// Reads what comes next, or waits for it for some time. A client that must wait for the budget is not read from, and TCP
    /// holds it back.
    pub(super) async fn read_from(
        &mut self,
        reader: &mut (impl AsyncRead + Unpin),
    ) -> Result<(), End> {
        if self.bytes.len() == self.held.bytes() {
            self.grow().await;
        }
        let (arrived, others_wait) = (self.bytes.len(), self.held.others_wait());
        let mut room = (&mut *self.bytes).limit(self.held.bytes() - arrived);
        let mut read = pin!(reader.read_buf(&mut room));
        if let Some(read) = at_once(read.as_mut()).await {
            return some(read);
        }
        let progress = self.progress.get_or_insert_with(|| {
            let (now, limits) = (Instant::now(), self.limits);
            Progress::new(self.length, arrived, limits, now, others_wait)
        });
        if let Ok(read) = timeout(progress.wait(), read).await {
            some(read)?;
        }
        progress.check(Instant::now(), self.bytes.len(), self.held.others_wait())
    }

    /// Makes room, once there is some in the budget.
    async fn grow(&mut self) {
        self.held.grow(frame::step(self.bytes.len(), self.length)).await;
        if let Some(progress) = &mut self.progress {
            progress.resume(Instant::now(), self.bytes.len(), self.held.others_wait());
        }
        let arrived = self.bytes.len();
        if self.held.bytes() <= self.bytes.capacity() {
            return;
        }
        // Not for its first bytes: what only announces a length takes none from others.
        if arrived > 0
            && self.length <= BUFFER_BYTES
            && let Some(mut larger) = self.buffers.take()
        {
            larger.extend_from_slice(&self.bytes);
            self.bytes = larger;
            return;
        }
        self.bytes.reserve(self.held.bytes() - arrived);
    }
}

fn some(read: io::Result<usize>) -> Result<(), End> {
    if read? == 0 { Err(unexpected_eof()) } else { Ok(()) }
}

pub(super) fn unexpected_eof() -> End {
    End::Io(io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the client left in the middle of a request",
    ))
}
