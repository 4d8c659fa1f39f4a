//! When requests are due.
//!
//! At a given rate a request is due whether or not the one before was answered, and its latency counts from then: a
//! broker that stalls is charged for all that it holds up.

use std::time::{Duration, Instant};
use tokio::task::yield_now;

pub(crate) struct Paced {
    due: Instant,
    /// `None`: as fast as the window of requests in flight allows.
    interval: Option<Duration>,
}

impl Paced {
    /// Connection `index` of `connections`, which together send `rate` requests a second.
    pub(crate) fn new(rate: Option<f64>, index: usize, connections: usize) -> Self {
        let interval = rate.map(|it| Duration::from_secs_f64(connections as f64 / it));
        let phase = interval.unwrap_or_default().mul_f64(index as f64 / connections as f64);
        Self { due: Instant::now() + phase, interval }
    }

    /// Returns when the next request is due, with that time. It spins: timers are a millisecond late.
    pub(crate) async fn next(&mut self) -> Instant {
        let Some(interval) = self.interval else {
            return Instant::now();
        };
        while Instant::now() < self.due {
            yield_now().await;
        }
        let due = self.due;
        self.due += interval;
        due
    }
}
