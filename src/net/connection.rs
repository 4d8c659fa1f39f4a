//! One connection: a loop that reads requests and one that writes answers, joined by a bounded queue in request order.
//!
//! ```text
//! frames → Service::call ─ Exclusive, Ready ─▶ the reader waits until it is written
//!                        └ Pipelined ────────▶ the reader goes on
//! ```
//!
//! All answers under way are driven at once; they are written one after the other.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesOrdered};
use tokio::{
    io::{AsyncRead, AsyncWriteExt},
    sync::{mpsc, oneshot},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::{
    Server, Service,
    end::End,
    frames::Frames,
    leaving::left,
    limits::PIPELINE_MAX,
    sending::{Sending, Sink},
    slots::Slot,
};
use crate::api::{Answer, Client, Outcome, Part};

/// An answer on its way.
struct Queued {
    answer: BoxFuture<'static, Answer>,
    /// Told when it is written.
    written: Option<oneshot::Sender<()>>,
}

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
        let frames = Frames::new(reader, &self.server.budget, &self.server.limits);
        let both = async {
            tokio::try_join!(self.read_requests(frames, queue), self.write_answers(queued, writer))
        };
        tokio::select! {
            ended = both => ended.map(drop),
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
        mut frames: Frames<'_, impl AsyncRead + Unpin>,
        queue: mpsc::Sender<Queued>,
    ) -> Result<(), End> {
        let waiting = || self.waiting.load(Ordering::Relaxed) > 0;
        let bytes_max = |api_key| self.server.service.frame_bytes_max(api_key);
        loop {
            // A client above its quota is not read, so that its own socket holds it back (KIP-219).
            let unmuted = self.client.mute.passed();
            let next = tokio::select! {
                next = frames.next(waiting, unmuted, bytes_max) => next?,
                () = self.leave().cancelled() => None,
            };
            let Some(frame) = next else {
                return Ok(());
            };
            self.slot.seat().used(self.server.quotas.now_ms());
            self.server.metrics.request_bytes.inc_by(frame.len() as u64);
            let (answer, written) = match self.server.service.call(self.client, frame) {
                Outcome::Ready(answer) => (async { answer }.boxed(), true),
                Outcome::Exclusive(answer) => (answer, true),
                Outcome::Pipelined(answer) => (answer, false),
            };
            let (written, wait) = written.then(oneshot::channel).unzip();
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
        mut queue: mpsc::Receiver<Queued>,
        mut writer: impl Sink,
    ) -> Result<(), End> {
        let mut under_way = FuturesOrdered::new();
        let mut open = true;
        // While the reader waits for an answer to be written it does not notice that the client leaves.
        let mut is_read = true;
        while open || !under_way.is_empty() {
            let said_all = || self.client.details.said_all.cancel();
            tokio::select! {
                queued = queue.recv(), if open && under_way.len() < PIPELINE_MAX => {
                    if let Some(Queued { answer, written }) = queued {
                        is_read = written.is_none();
                        under_way.push_back(answer.map(move |answer| (answer, written)));
                    } else {
                        (open, is_read) = (false, false);
                    }
                }
                Some((answer, written)) = under_way.next() => {
                    self.write(&mut writer, answer).await?;
                    self.waiting.fetch_sub(1, Ordering::Relaxed);
                    if let Some(written) = written {
                        is_read = written.send(()).is_ok();
                    }
                }
                error = left(writer.plain_socket(), said_all), if !is_read => {
                    return Err(End::Io(error));
                }
            }
        }
        writer.shutdown().await.map_err(End::Io)
    }

    async fn write(&self, writer: &mut impl Sink, answer: Answer) -> Result<(), End> {
        let mut sending = Sending { writer, stall: self.server.limits.write_stall };
        let count = |bytes: usize| self.server.metrics.response_bytes.inc_by(bytes as u64);
        match answer {
            Answer::Frame(frame) => {
                count(frame.len());
                sending.write(frame, false).await
            }
            Answer::Parts(parts) => {
                count(parts.iter().map(Part::len).sum());
                sending.send(parts).await
            }
            Answer::NoResponse => Ok(()),
            Answer::Close(reason) => Err(End::Closed(reason)),
        }
    }
}
