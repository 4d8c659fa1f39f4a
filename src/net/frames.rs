//! Reads the frames of a connection, none faster than the common budget allows.

use bytes::{BufMut, Bytes};
use tokio::io::{AsyncRead, AsyncReadExt, BufReader};

use super::{
    Server,
    body::{Body, unexpected_eof},
    end::End,
    patience::within,
    speed::Speed,
};
use crate::wire::frame::{self, LENGTH_BYTES};

/// Saves a system call for each small request. What an idle connection takes is this and little more; of a large request
/// no more than this is copied.
const READ_AHEAD_BYTES: usize = 2048;

/// The reading half of a connection.
pub(super) struct Frames<'a, S, R> {
    server: &'a Server<S>,
    reader: BufReader<R>,
    speed: Speed,
}

impl<'a, S, R: AsyncRead + Unpin> Frames<'a, S, R> {
    pub(super) fn new(server: &'a Server<S>, reader: R) -> Self {
        let reader = BufReader::with_capacity(READ_AHEAD_BYTES, reader);
        Self { server, reader, speed: Speed::default() }
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
        within(self.server.limits.idle, turn).await.ok_or(End::Idle)?;
        let length = frame::parse_length(prefix, self.server.limits.request_max_bytes)?;
        let mut body = Body::new(self.server, length);
        while !body.is_whole() {
            body.read_from(&mut self.reader, self.speed).await?;
            if let Some(max) = frame::api_key(body.arrived()).and_then(&bytes_max) {
                frame::check_length(length, max)?;
            }
        }
        self.speed.remember(length, body.waited());
        Ok(Some(body.into_bytes()))
    }

    async fn prefix(
        &mut self,
        waiting: impl Fn() -> bool,
    ) -> Result<Option<[u8; LENGTH_BYTES]>, End> {
        let mut prefix = [0; LENGTH_BYTES];
        let mut rest = &mut prefix[..];
        while rest.has_remaining_mut() {
            let begun = rest.len() < LENGTH_BYTES;
            match within(self.server.limits.idle, self.reader.read_buf(&mut rest)).await {
                Some(Ok(0)) if begun => return Err(unexpected_eof()),
                Some(Ok(0)) => return Ok(None),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(End::Io(error)),
                None if waiting() => {}
                None => return Err(End::Idle),
            }
        }
        Ok(Some(prefix))
    }
}
