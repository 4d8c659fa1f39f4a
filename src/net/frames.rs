//! Reads the frames of a connection, none faster than the common budget allows.

use std::io;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader},
    time::{Instant, timeout},
};

use super::{
    Limits,
    budget::{Ask, Budget, Held},
    end::End,
    pace::Pace,
    progress::Progress,
};
use crate::wire::frame::{self, LENGTH_BYTES};

/// Saves a system call for each small request. What an idle connection takes is this and little more; of a large request
/// no more than this is copied.
const BUFFER_BYTES: usize = 1024;

/// The reading half of a connection.
pub(super) struct Frames<'a, R> {
    reader: BufReader<R>,
    budget: &'a Budget,
    limits: &'a Limits,
    pace: Pace,
}

impl<'a, R: AsyncRead + Unpin> Frames<'a, R> {
    pub(super) fn new(reader: R, budget: &'a Budget, limits: &'a Limits) -> Self {
        let reader = BufReader::with_capacity(BUFFER_BYTES, reader);
        Self { reader, budget, limits, pace: Pace::default() }
    }

    /// The next frame, less the length before it; `None` when the client has said all. `waiting` tells whether the client waits for answers, for
    /// then its silence is not idleness; `turn` is over once it may go on after it has begun; `bytes_max` tells the longest frame of an API.
    pub(super) async fn next(
        &mut self,
        waiting: impl Fn() -> bool,
        turn: impl Future<Output = ()>,
        bytes_max: impl Fn(i16) -> Option<usize>,
    ) -> Result<Option<Bytes>, End> {
        let Some(prefix) = self.prefix(waiting).await? else {
            return Ok(None);
        };
        // Only now: whoever has left, or never goes on, is not held for as long as its quota says.
        timeout(self.limits.idle, turn).await.map_err(|_| End::Idle)?;
        let length = frame::parse_length(prefix, self.limits.request_max_bytes)?;
        let mut held = self.budget.begin(length);
        let bytes = self.read_body(length, &mut held, bytes_max).await?;
        Ok(Some(held.with(bytes)))
    }

    async fn prefix(
        &mut self,
        waiting: impl Fn() -> bool,
    ) -> Result<Option<[u8; LENGTH_BYTES]>, End> {
        let mut prefix = [0; LENGTH_BYTES];
        let mut rest = &mut prefix[..];
        while rest.has_remaining_mut() {
            let begun = rest.len() < LENGTH_BYTES;
            match timeout(self.limits.idle, self.reader.read_buf(&mut rest)).await {
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

    /// A client that must wait for the budget is not read from, and TCP holds it back.
    async fn read_body(
        &mut self,
        length: usize,
        held: &mut Held,
        bytes_max: impl Fn(i16) -> Option<usize>,
    ) -> Result<Bytes, End> {
        let mut body = BytesMut::new();
        let mut progress = Progress::new(length, self.limits, Instant::now());
        while body.len() < length {
            let step = frame::step(body.len(), length);
            let is_full = body.len() == held.bytes() && !held.try_grow(step);
            if is_full && !self.reader.buffer().is_empty() {
                let rest = length - body.len();
                let pace = self.pace.with(body.len(), progress.waited());
                held.grow(Ask { step, rest, expected: pace.expected(rest) }).await;
                progress.resume(Instant::now());
                continue;
            }
            let arrive = async {
                // Room is waited for once there are bytes to put there.
                if is_full {
                    return self.reader.fill_buf().await.map(<[u8]>::len);
                }
                let room = held.bytes() - body.len();
                body.reserve(room);
                self.reader.read_buf(&mut (&mut body).limit(room)).await
            };
            match timeout(progress.wait(), arrive).await {
                Ok(Ok(0)) => return Err(unexpected_eof()),
                Ok(Err(error)) => return Err(End::Io(error)),
                Ok(Ok(_)) | Err(_) => {}
            }
            progress.check(Instant::now(), body.len(), held.others_wait())?;
            if let Some(max) = frame::api_key(&body).and_then(&bytes_max) {
                frame::check_length(length, max)?;
            }
        }
        self.pace.remember(length, progress.waited());
        Ok(body.freeze())
    }
}

fn unexpected_eof() -> End {
    End::Io(io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the client left in the middle of a request",
    ))
}
