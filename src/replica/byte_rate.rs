//! Bytes a second, over the last minute or so: older bytes count exponentially less.

use std::time::Instant;

const WINDOW_SECONDS: f64 = 60.0;

#[derive(Debug)]
pub(super) struct ByteRate {
    /// Bytes, each weighted by its age.
    weighted: f64,
    at: Instant,
}

impl ByteRate {
    pub(super) fn new(now: Instant) -> Self {
        Self { weighted: 0.0, at: now }
    }

    pub(super) fn add(&mut self, bytes: usize, now: Instant) {
        self.weighted = self.weighted_at(now) + bytes as f64;
        self.at = now;
    }

    pub(super) fn per_second(&self, now: Instant) -> f64 {
        self.weighted_at(now) / WINDOW_SECONDS
    }

    fn weighted_at(&self, now: Instant) -> f64 {
        let age = now.saturating_duration_since(self.at).as_secs_f64();
        self.weighted * (-age / WINDOW_SECONDS).exp()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_steady_flow_is_told_and_fades_after_its_end() {
        let start = Instant::now();
        let mut rate = ByteRate::new(start);
        for second in 0..600 {
            rate.add(1_000, start + Duration::from_secs(second));
        }
        let end = start + Duration::from_mins(10);
        assert!((rate.per_second(end) - 1_000.0).abs() < 20.0, "{}", rate.per_second(end));
        assert!(rate.per_second(end + Duration::from_mins(10)) < 1.0);
    }
}
