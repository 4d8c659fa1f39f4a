//! Waits that have a limit.
//!
//! Rule: what need not be waited for asks no clock and starts no timer: most requests are there when they are looked for.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use tokio::time::timeout;

/// The future's output; `None` when it is not there after `limit`.
pub(super) async fn within<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    match at_once(future.as_mut()).await {
        None => timeout(limit, future).await.ok(),
        output => output,
    }
}

/// The future's output, if it need not be waited for; otherwise it may be polled on.
pub(super) async fn at_once<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::task::yield_now;

    use super::*;

    const HANG: Duration = Duration::from_mins(2);

    #[tokio::test]
    async fn what_is_there_is_given_whatever_the_limit() {
        assert_eq!(within(Duration::ZERO, ready(7)).await, Some(7));
        assert_eq!(within(HANG, async { yield_now().await }).await, Some(()));
        assert_eq!(within(Duration::from_millis(1), pending::<()>()).await, None);
    }

    #[tokio::test]
    async fn what_is_not_there_at_once_can_be_waited_for() {
        let mut later = pin!(async {
            yield_now().await;
            7
        });
        assert_eq!(at_once(later.as_mut()).await, None);
        assert_eq!(later.await, 7);
    }
}
