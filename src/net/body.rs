//! The body of a frame while it arrives.
//!
//! Rule: its room grows with what has arrived, never with what was announced, and no faster than the common budget allows.

use std::{io, pin::pin, sync::Arc, time::Duration};

use bytes::{BufMut, Bytes};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader},
    time::{Instant, timeout},
};

use super::{
    Limits, Server,
    budget::{Ask, Held},
    end::End,
    frame_buffers::{BUFFER_BYTES, Buffer, FrameBuffers},
    patience::at_once,
    progress::Progress,
    speed::Speed,
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

    /// How long it was waited for bytes so far.
    pub(super) fn waited(&self) -> Duration {
        self.progress.as_ref().map_or(Duration::ZERO, Progress::waited)
    }

    /// Reads what comes next, or waits for it for some time. A client that must wait for the budget is not read from, and TCP
    /// holds it back. `speed` is that of the client's requests before.
    pub(super) async fn read_from(
        &mut self,
        reader: &mut BufReader<impl AsyncRead + Unpin>,
        speed: Speed,
    ) -> Result<(), End> {
        let mut has_room = self.has_room();
        // Room is waited for once there are bytes to put there.
        if !has_room && !reader.buffer().is_empty() {
            self.wait_for_room(speed).await;
            has_room = true;
        }
        if has_room {
            self.reserve();
        }
        let (arrived, others_wait) = (self.bytes.len(), self.held.others_wait());
        let room = self.held.bytes() - arrived;
        {
            let room = has_room.then(|| (&mut *self.bytes).limit(room));
            let mut read = pin!(arrive(reader, room));
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
        }
        let (arrived, others_wait) = (self.bytes.len(), self.held.others_wait());
        self.progress.as_mut().map_or(Ok(()), |it| it.check(Instant::now(), arrived, others_wait))
    }

    /// Whether there is room for more, or the budget gives it at once.
    fn has_room(&mut self) -> bool {
        self.bytes.len() < self.held.bytes() || self.held.try_grow(self.step())
    }

    fn step(&self) -> usize {
        frame::step(self.bytes.len(), self.length)
    }

    async fn wait_for_room(&mut self, speed: Speed) {
        let rest = self.length - self.bytes.len();
        let speed = speed.with(self.bytes.len(), self.waited());
        self.held.grow(Ask { step: self.step(), rest, expected: speed.expected(rest) }).await;
        if let Some(progress) = &mut self.progress {
            progress.resume(Instant::now());
        }
    }

    /// Makes the room that the budget has given.
    fn reserve(&mut self) {
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

/// What comes next, into `room`; without room it is only waited for. How many bytes these are.
async fn arrive(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    room: Option<impl BufMut>,
) -> io::Result<usize> {
    match room {
        Some(mut room) => reader.read_buf(&mut room).await,
        None => reader.fill_buf().await.map(<[u8]>::len),
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
