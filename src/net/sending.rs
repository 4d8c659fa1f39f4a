//! Sends an answer: bytes as they are, records from the page cache to the socket without coming by here.
//!
//! Rule: a frame leaves as it was announced or not at all: where its records cannot be read any more, the connection ends. The
//! disk is waited for on threads that may wait, and what a slow client makes a connection hold is one buffer.

use std::{future::Future, io, os::fd::AsFd, time::Duration};

use bytes::{Buf, Bytes, BytesMut};
use socket2::SockRef;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt, Interest},
    net::{TcpStream, tcp::WriteHalf},
    task::{spawn_blocking, yield_now},
};

use super::{end::End, patience::within};
use crate::{api::Part, log::LogSlice};

/// Records of at most so many bytes are copied: for less than this, a system call of their own and a packet that is not
/// full cost more.
const COPIED_BYTES_MAX: usize = 16 * 1024;

/// Small parts of an answer are gathered up to about so many bytes before they are written.
const GATHERED_BYTES: usize = 64 * 1024;

/// The most that one system call sends, and that is looked for in the page cache at a time.
const STEP_BYTES: usize = 512 * 1024;

/// After so many bytes others have their turn on this thread: some hundreds of microseconds. A turn costs a look at the
/// sockets and often a wake-up, as much as sending a tenth of this.
const TURN_BYTES: usize = 2 * 1024 * 1024;

/// Linux's flag of send(2): more follows, so a packet that is not full may wait for it.
const MSG_MORE: i32 = 0x8000;

/// Where answers are written: a socket, and in tests something else.
pub(super) trait Sink: AsyncWrite + Unpin {
    /// The socket, if its bytes are the bytes on the wire.
    fn plain_socket(&self) -> Option<&TcpStream>;
}

impl Sink for WriteHalf<'_> {
    fn plain_socket(&self) -> Option<&TcpStream> {
        Some(self.as_ref())
    }
}

/// Sends the parts of an answer, as long as the client keeps taking something within `stall`.
pub(super) struct Sending<'a, W> {
    pub(super) writer: &'a mut W,
    pub(super) stall: Duration,
}

impl<W: Sink> Sending<'_, W> {
    pub(super) async fn send(&mut self, parts: Vec<Part>) -> Result<(), End> {
        let mut gathered = BytesMut::new();
        let mut parts = parts.into_iter();
        let mut turn = Turn::default();
        while let Some(part) = parts.next() {
            match part {
                Part::Bytes(bytes) if gathered.is_empty() && parts.len() == 0 => {
                    return self.write(bytes, false).await;
                }
                Part::Bytes(bytes) => gathered.extend_from_slice(&bytes),
                Part::Records(records) if records.slice.len() <= COPIED_BYTES_MAX => {
                    turn.took(records.slice.len()).await;
                    gather(&mut gathered, &records.slice, 0, records.slice.len()).await?;
                }
                Part::Records(records) => {
                    self.write(gathered.split().freeze(), true).await?;
                    let next = first_slice(parts.as_slice());
                    self.send_slice(&records.slice, next, &mut turn).await?;
                }
            }
            if gathered.len() >= GATHERED_BYTES {
                self.write(gathered.split().freeze(), parts.len() > 0).await?;
            }
        }
        self.write(gathered.freeze(), false).await
    }

    /// Writes bytes; `more` follows soon.
    pub(super) async fn write(&mut self, mut bytes: Bytes, more: bool) -> Result<(), End> {
        let socket = self.writer.plain_socket().filter(|_| more);
        if let Some(socket) = socket {
            while bytes.has_remaining() {
                let write = || SockRef::from(socket).send_with_flags(&bytes, MSG_MORE);
                let written = when_writable(socket, self.stall, write).await?;
                bytes.advance(written);
            }
            return Ok(());
        }
        while bytes.has_remaining() {
            if in_time(self.stall, self.writer.write_buf(&mut bytes)).await? == 0 {
                return Err(End::Io(io::ErrorKind::WriteZero.into()));
            }
        }
        Ok(())
    }

    async fn send_slice(
        &mut self,
        slice: &LogSlice,
        next: Option<&LogSlice>,
        turn: &mut Turn,
    ) -> Result<(), End> {
        match self.writer.plain_socket() {
            Some(socket) => send_file(socket, slice, next, self.stall, turn).await,
            None => self.copy(slice).await,
        }
    }

    /// Where bytes are changed on their way, they come by here.
    async fn copy(&mut self, slice: &LogSlice) -> Result<(), End> {
        let mut skip = 0;
        while skip < slice.len() {
            let mut step = BytesMut::new();
            let len = GATHERED_BYTES.min(slice.len() - skip);
            gather(&mut step, slice, skip, len).await?;
            self.write(step.freeze(), false).await?;
            skip += len;
        }
        Ok(())
    }
}

/// How much a fast reader was sent without a break: it does not keep a thread for itself.
#[derive(Default)]
struct Turn(usize);

impl Turn {
    async fn took(&mut self, bytes: usize) {
        self.0 += bytes;
        if self.0 >= TURN_BYTES {
            self.0 = 0;
            yield_now().await;
        }
    }
}

/// The records that come next, of those that are not copied.
fn first_slice(parts: &[Part]) -> Option<&LogSlice> {
    let mut slices = parts.iter().filter_map(Part::slice);
    slices.next().filter(|it| it.len() > COPIED_BYTES_MAX)
}

/// sendfile(2), of bytes that are in the page cache: what is not is loaded first, where one may wait for the disk. Then the
/// `next` slice most likely is not there either: the disk reads it while this one is sent.
async fn send_file(
    socket: &TcpStream,
    slice: &LogSlice,
    next: Option<&LogSlice>,
    stall: Duration,
    turn: &mut Turn,
) -> Result<(), End> {
    let (mut skip, mut loaded) = (0, 0);
    while skip < slice.len() {
        if skip == loaded {
            load(slice, skip, STEP_BYTES, next).await?;
            loaded = slice.len().min(skip + STEP_BYTES);
        }
        let step = || slice.send_to(socket.as_fd(), skip, loaded - skip);
        match when_writable(socket, stall, step).await.map_err(of_records)? {
            0 => return Err(End::Unreadable(io::ErrorKind::UnexpectedEof.into())),
            sent => {
                skip += sent;
                turn.took(sent).await;
            }
        }
    }
    Ok(())
}

/// Puts `len` bytes of a slice behind what was gathered.
async fn gather(
    gathered: &mut BytesMut,
    slice: &LogSlice,
    skip: usize,
    len: usize,
) -> Result<(), End> {
    load(slice, skip, len, None).await?;
    let before = gathered.len();
    gathered.resize(before + len, 0);
    let room = gathered.get_mut(before..).unwrap_or_default();
    slice.read_at(skip, room).map_err(End::Unreadable)
}

/// Waits, but not here, until bytes of a slice are in the page cache.
async fn load(
    slice: &LogSlice,
    skip: usize,
    len: usize,
    next: Option<&LogSlice>,
) -> Result<(), End> {
    if slice.is_cached(skip, len) {
        return Ok(());
    }
    let (slice, next) = (slice.clone(), next.cloned());
    let loaded = spawn_blocking(move || {
        next.inspect(LogSlice::prefetch);
        slice.load(skip, len)
    });
    loaded.await.map_err(io::Error::other).flatten().map_err(End::Unreadable)
}

/// Tries until the socket takes something.
async fn when_writable(
    socket: &TcpStream,
    stall: Duration,
    mut write: impl FnMut() -> io::Result<usize>,
) -> Result<usize, End> {
    loop {
        match socket.try_io(Interest::WRITABLE, &mut write) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                in_time(stall, socket.writable()).await?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done.map_err(End::Io),
        }
    }
}

async fn in_time<T>(stall: Duration, write: impl Future<Output = io::Result<T>>) -> Result<T, End> {
    let written = within(stall, write).await;
    written.ok_or(End::Stalled("an answer was not taken"))?.map_err(End::Io)
}

/// sendfile(2) fails for either of its files.
fn of_records(end: End) -> End {
    use io::ErrorKind as Kind;
    match end {
        End::Io(error) => match error.kind() {
            Kind::BrokenPipe
            | Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::NotConnected
            | Kind::HostUnreachable
            | Kind::NetworkUnreachable
            | Kind::TimedOut => End::Io(error),
            _ => End::Unreadable(error),
        },
        end => end,
    }
}

#[cfg(test)]
mod tests;
