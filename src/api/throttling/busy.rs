//! For how long a connection takes threads that serve others too: what a quota of `request_percentage` counts (KIP-124).
//!
//! Kafka adds up the time of the network thread and of the request handler's. Here one task does the work of both: it reads,
//! decodes, handles, encodes and sends, and each time that it is polled it has a thread of the runtime to itself. What waits takes
//! no time; nor does what other threads do for it (reading from a disk, plugins, the coordinators' tasks), as in Kafka.

use std::{
    fmt,
    future::{Future, poll_fn},
    mem::take,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// What a connection's task has taken and is not charged for yet.
#[derive(Clone, Default)]
pub struct Busy(Arc<Mutex<Time>>);

#[derive(Default)]
struct Time {
    taken: Duration,
    /// Since when the task has a thread, if it does.
    running: Option<Instant>,
    /// Whose last request this was.
    client_id: Option<Arc<str>>,
}

/// Notes that the task has a thread, until dropped.
struct Running<'a>(&'a Busy);

impl Busy {
    /// Runs a connection, and counts its time while `is_counted` says so.
    pub async fn count<T>(
        &self,
        is_counted: impl Fn() -> bool,
        connection: impl Future<Output = T>,
    ) -> T {
        let mut connection = pin!(connection);
        poll_fn(|context| {
            let _running = is_counted().then(|| self.run());
            connection.as_mut().poll(context)
        })
        .await
    }

    /// Remembers whose request comes now.
    pub(super) fn of(&self, client_id: &Arc<str>) {
        let mut time = self.0.lock();
        if time.client_id.as_ref() != Some(client_id) {
            time.client_id = Some(Arc::clone(client_id));
        }
    }

    /// What was taken up to now, which is counted from now on anew.
    pub(super) fn charge(&self) -> Duration {
        let mut time = self.0.lock();
        if let Some(since) = time.running {
            let now = Instant::now();
            time.taken += now - since;
            time.running = Some(now);
        }
        take(&mut time.taken)
    }

    /// The last charge, and whom it is for.
    pub(super) fn last(&self) -> Option<(Arc<str>, Duration)> {
        let taken = self.charge();
        let client_id = self.0.lock().client_id.take()?;
        Some((client_id, taken))
    }

    fn run(&self) -> Running<'_> {
        self.0.lock().running = Some(Instant::now());
        Running(self)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut time = self.0.0.lock();
        if let Some(since) = time.running.take() {
            time.taken += since.elapsed();
        }
    }
}

impl fmt::Debug for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Busy").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::{sync::oneshot, task::yield_now};

    use super::*;

    fn work(time: Duration) {
        let since = Instant::now();
        while since.elapsed() < time {}
    }

    const SOME: Duration = Duration::from_millis(5);
    /// Far more than to be polled takes.
    const LONG: Duration = Duration::from_millis(500);

    #[tokio::test]
    async fn work_is_counted_before_it_has_ended_and_each_part_of_it_once() {
        let busy = Busy::default();
        let worked = async {
            work(SOME);
            let first = busy.charge();
            yield_now().await;
            work(SOME);
            first
        };
        assert!(busy.count(|| true, worked).await >= SOME);
        assert!(busy.charge() >= SOME);
        assert_eq!(busy.charge(), Duration::ZERO);
    }

    #[tokio::test]
    async fn waiting_takes_no_time() {
        let busy = Busy::default();
        let (done, waits) = oneshot::channel::<()>();
        let mut connection = Box::pin(busy.count(|| true, waits));
        assert!(futures_util::poll!(&mut connection).is_pending());
        work(LONG);
        done.send(()).unwrap();
        connection.await.unwrap();
        assert!(busy.charge() < LONG);
    }

    #[tokio::test]
    async fn nothing_is_counted_while_nobody_asks() {
        let busy = Busy::default();
        busy.count(|| false, async { work(SOME) }).await;
        assert_eq!(busy.charge(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_connection_that_is_dropped_is_counted_up_to_then() {
        let busy = Busy::default();
        let (_never, waits) = oneshot::channel::<()>();
        let mut connection = Box::pin(busy.count(|| true, async {
            work(SOME);
            drop(waits.await);
        }));
        assert!(futures_util::poll!(&mut connection).is_pending());
        drop(connection);
        busy.of(&"app".into());
        let (client_id, taken) = busy.last().unwrap();
        assert!(&*client_id == "app" && taken >= SOME);
        assert!(busy.last().is_none());
    }
}
