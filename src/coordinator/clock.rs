//! The time that machines are given: milliseconds since the epoch that never step back, so that no session
//! ends because someone set the clock.

use std::time::{Duration, Instant};

use crate::{base::TimestampMs, telemetry};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
    started_at: TimestampMs,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), started_at: telemetry::now() }
    }

    pub(crate) fn now(&self) -> TimestampMs {
        TimestampMs(self.started_at.0 + self.started.elapsed().as_millis() as i64)
    }

    /// How long until `at`; zero if it is past.
    pub(crate) fn until(&self, at: TimestampMs) -> Duration {
        Duration::from_millis(at.since(self.now()))
    }
}
