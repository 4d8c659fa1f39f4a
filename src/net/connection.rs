//! One connection: a loop that reads requests and one that writes answers, joined by a bounded queue in request order.
//!
//! ```text
//! frames → Service::call ─ Exclusive, large ──────▶ the reader waits until it is written
//!                        └ Ready, Pipelined ──────▶ the reader goes on
//! ```
//!
//! All answers under way are driven at once; they are written one after the other, small ones that are ready together in
//! one system call.

use std::{
    pin::pin,
    sync::atomic::{AtomicUsize, Ordering},
};

use futures_util::future::{Either, ready};
use tokio::{
    io::{AsyncRead, AsyncWriteExt},
    sync::{mpsc, oneshot},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::{
    Server, Service,
    answers::{Answers, Next, Queued},
    end::End,
    frames::Frames,
    gathered::{Gathered, is_small},
    leaving::left,
    limits::PIPELINE_MAX,
    sending::{Sending, Sink},
    slots::Slot,
};
use crate::api::{Answer, Client, Outcome, Part};

/// A connection besides its socket.
pub(super) struct Connection<'a, S> {
    pub(super) server: &'a Server<S>,
    pub(super) client: &'a Client,
    pub(super) slot: &'a Slot,
    /// Requests read and not answered yet.
    waiting: AtomicUsize,
}

impl<'a, S: Service> Connection<'a, S> {
    pub(super) fn new(server: &'a Server<S>, client: &'a Client, slot: &'a Slot) -> Self {
        Self { server, client, slot, waiting: AtomicUsize::new(0) }
    }

    /// Serves the connection until the client is done, something goes wrong, or it has to leave.
    pub(super) async fn run(
        &self,
        reader: impl AsyncRead + Unpin,
        writer: impl Sink,
    ) -> Result<(), End> {
        let (queue, queued) = mpsc::channel(PIPELINE_MAX);
        let frames = Frames::new(self.server, reader);
        let both = async {
            // What came before something that ends the connection is answered still.
            let read = async { Ok(self.read_requests(frames, queue).await) };
            let (read, ()) = tokio::try_join!(read, self.write_answers(queued, writer))?;
            read
        };
        tokio::select! {
            biased;
            ended = both => ended,
            () = self.stop_is_over() => Err(End::Stopped),
        }
    }

    /// Cancelled when the node stops or there are too many connections.
    fn leave(&self) -> &CancellationToken {
        self.slot.leave()
    }

    /// Running requests may finish after that, but not for ever.
    async fn stop_is_over(&self) {
        self.leave().cancelled().await;
        sleep(self.server.limits.stop_grace).await;
    }

    /// Begins each request as it comes. Ends with the client's last byte or with a stop; what is queued is still written.
    async fn read_requests(
        &self,
        mut frames: Frames<'_, S, impl AsyncRead + Unpin>,
        queue: mpsc::Sender<Queued>,
    ) -> Result<(), End> {
        let waiting = || self.waiting.load(Ordering::Relaxed) > 0;
        let bytes_max = |api_key| self.server.service.frame_bytes_max(api_key);
        let mut leave = pin!(self.leave().cancelled());
        loop {
            // A client above its quota is not read, so that its own socket holds it back (KIP-219).
            let unmuted = self.client.mute.passed();
            let next = tokio::select! {
                biased;
                next = frames.next(waiting, unmuted, bytes_max) => next?,
                // Looked at when the client has to be waited for, or has had its turn.
                () = &mut leave => None,
            };
            let Some(frame) = next else {
                return Ok(());
            };
            self.slot.seat().used(self.server.quotas.now_ms());
            self.server.metrics.request_bytes.inc_by(frame.len() as u64);
            let (answer, must_wait) = match self.server.service.call(self.client, frame) {
                // Large answers do not pile up, and behind the end of the connection nothing is begun.
                Outcome::Ready(it) => {
                    let must_wait = !is_small(&it);
                    (Either::Left(ready(it)), must_wait)
                }
                Outcome::Exclusive(it) => (Either::Right(it), true),
                Outcome::Pipelined(it) => (Either::Right(it), false),
            };
            let (written, wait) = must_wait.then(oneshot::channel).unzip();
            self.waiting.fetch_add(1, Ordering::Relaxed);
            // Both fail only when the writer has ended, and then its own error tells why.
            if queue.send(Queued { answer, written }).await.is_err() {
                return Ok(());
            }
            if let Some(wait) = wait
                && wait.await.is_err()
            {
                return Ok(());
            }
        }
    }

    async fn write_answers(
        &self,
        queue: mpsc::Receiver<Queued>,
        mut writer: impl Sink,
    ) -> Result<(), End> {
        let mut answers = Answers::new(queue);
        loop {
            let is_read = answers.is_read();
            let said_all = || self.client.details.said_all.cancel();
            let next = tokio::select! {
                biased;
                next = answers.next() => next,
                error = left(writer.plain_socket(), said_all), if !is_read => {
                    return Err(End::Io(error));
                }
            };
            match next {
                Next::Write(first) => {
                    let mut gathered = Gathered::from(first, &mut answers).await;
                    let written = gathered.written.take();
                    self.write(&mut writer, gathered).await?;
                    if let Some(written) = written {
                        answers.tell(written);
                    }
                }
                Next::Watch => {}
                Next::End => break,
            }
        }
        writer.shutdown().await.map_err(End::Io)
    }

    async fn write(&self, writer: &mut impl Sink, gathered: Gathered) -> Result<(), End> {
        let mut sending = Sending { writer, stall: self.server.limits.write_stall };
        let written = |bytes: usize| self.server.metrics.response_bytes.inc_by(bytes as u64);
        written(gathered.frames.len());
        sending.write(gathered.frames.freeze(), false).await?;
        match gathered.last {
            None | Some(Answer::NoResponse) => {}
            Some(Answer::Frame(frame)) => {
                written(frame.len());
                sending.write(frame, false).await?;
            }
            Some(Answer::Parts(parts)) => {
                written(parts.iter().map(Part::len).sum());
                sending.send(parts).await?;
            }
            Some(Answer::Close(reason)) => return Err(End::Closed(reason)),
        }
        self.waiting.fetch_sub(gathered.count, Ordering::Relaxed);
        Ok(())
    }
}
