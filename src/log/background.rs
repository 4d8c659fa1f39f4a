//! Work in the background: held to a rate of bytes, and ended by a stop.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use parking_lot::Mutex;

use super::throttle::Throttle;
use crate::telemetry;

/// The longest rest without a look at whether the node stops.
const REST: Duration = Duration::from_millis(50);

/// What the threads that do one kind of work have in common.
#[derive(Debug)]
pub struct Background {
    throttle: Mutex<Throttle>,
    is_stopped: AtomicBool,
}

impl Background {
    pub fn new(bytes_per_second: f64) -> Self {
        let throttle = Mutex::new(Throttle::new(bytes_per_second));
        Self { throttle, is_stopped: AtomicBool::new(false) }
    }

    /// Takes over a changed rate, also for what runs.
    pub fn set_rate(&self, bytes_per_second: f64) {
        self.throttle.lock().set_rate(bytes_per_second);
    }

    #[cfg(test)]
    pub fn bytes_per_second(&self) -> f64 {
        self.throttle.lock().bytes_per_second()
    }

    /// Ends what runs, soon.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Takes note of bytes read or written, and rests if they were too many.
    pub fn spend(&self, bytes: usize) {
        let rest_ms = self.throttle.lock().spend(bytes, telemetry::now());
        let mut rest = Duration::from_millis(rest_ms);
        while !rest.is_zero() && !self.is_stopped() {
            thread::sleep(rest.min(REST));
            rest = rest.saturating_sub(REST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_stopped_rests_no_more() {
        let background = Background::new(1.0);
        background.stop();
        // Ten seconds' rest otherwise.
        (0..1_000).for_each(|_| background.spend(1 << 20));
        assert!(background.is_stopped());
    }
}
