//! The answers under way on a connection, in the order of its requests.
//!
//! Rule: all of them are driven at once; one is given when those before it were.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_util::{
    FutureExt, StreamExt,
    future::{self, BoxFuture, Either},
    stream::FuturesOrdered,
};
use tokio::sync::{mpsc, oneshot};

use super::limits::PIPELINE_MAX;
use crate::api::Answer;

/// An answer on its way.
pub(super) struct Queued {
    pub(super) answer: Either<future::Ready<Answer>, BoxFuture<'static, Answer>>,
    /// Told when it is written.
    pub(super) written: Option<oneshot::Sender<()>>,
}

/// An answer that can be written, and who is to be told then.
pub(super) type Answered = (Answer, Option<oneshot::Sender<()>>);

impl Future for Queued {
    type Output = Answered;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answered> {
        let answer = ready!(self.answer.poll_unpin(context));
        Poll::Ready((answer, self.written.take()))
    }
}

/// What there is to do for the writer of answers.
pub(super) enum Next {
    Write(Answered),
    /// Nobody reads from the connection any more, so nobody else notices that the client leaves.
    Watch,
    /// All were given, and no request can come.
    End,
}

/// The answers of a connection.
pub(super) struct Answers {
    queue: mpsc::Receiver<Queued>,
    /// More may come from the queue.
    is_open: bool,
    /// Whether anybody reads from the connection: not while the reader waits for an answer to be written, nor when it has
    /// ended.
    is_read: bool,
    /// The first that was not known at once, and all behind it.
    under_way: FuturesOrdered<Queued>,
}

impl Answers {
    pub(super) fn new(queue: mpsc::Receiver<Queued>) -> Self {
        Self { queue, is_open: true, is_read: true, under_way: FuturesOrdered::new() }
    }

    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    /// What is next to do.
    pub(super) async fn next(&mut self) -> Next {
        let was_read = self.is_read;
        poll_fn(|context| match self.poll_next(context) {
            Poll::Ready(Some(answered)) => Poll::Ready(Next::Write(answered)),
            Poll::Ready(None) => Poll::Ready(Next::End),
            Poll::Pending if was_read && !self.is_read => Poll::Ready(Next::Watch),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    /// Tells the reader that its answer is written.
    pub(super) fn tell(&mut self, written: oneshot::Sender<()>) {
        self.is_read = written.send(()).is_ok();
    }

    /// The next answer, if it need not be waited for.
    pub(super) async fn next_if_ready(&mut self) -> Option<Answered> {
        poll_fn(|context| match self.poll_next(context) {
            Poll::Ready(answered) => Poll::Ready(answered),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Answered>> {
        while self.is_open && self.under_way.len() < PIPELINE_MAX {
            match self.queue.poll_recv(context) {
                Poll::Ready(Some(mut queued)) => {
                    self.is_read = queued.written.is_none();
                    // Most are known at once: what drives many would only cost here.
                    if self.under_way.is_empty()
                        && let Poll::Ready(answered) = queued.poll_unpin(context)
                    {
                        return Poll::Ready(Some(answered));
                    }
                    self.under_way.push_back(queued);
                }
                Poll::Ready(None) => (self.is_open, self.is_read) = (false, false),
                Poll::Pending => break,
            }
        }
        match self.under_way.poll_next_unpin(context) {
            Poll::Ready(None) if self.is_open => Poll::Pending,
            answered => answered,
        }
    }
}
