//! How the body of a request gets on.
//!
//! Rule: a client may be slow while nobody minds. While others wait for the budget, a body that arrives more slowly than its
//! whole time allows for gives its share back: the less of it comes the sooner, and one that gets on as it should never.

use std::time::Duration;

use tokio::time::Instant;

use super::{Limits, end::End};

/// How often it is looked whether others wait, in a body's grace.
const LOOKS: u32 = 4;

/// The time that a body has left.
pub(super) struct Progress {
    length: usize,
    body: Duration,
    lag: Duration,
    /// What is left of `body`.
    patience: Duration,
    /// What is left of `lag`: the time that passes while others wait takes from it, bytes add the time that they may take.
    grace: Duration,
    /// As of the last look.
    seen: Instant,
    arrived: usize,
    others_waited: bool,
}

impl Progress {
    /// Of a body of `length` bytes of which so many have arrived, while others wait or not.
    pub(super) fn new(
        length: usize,
        arrived: usize,
        limits: &Limits,
        now: Instant,
        others_wait: bool,
    ) -> Self {
        let &Limits { body, lag, .. } = limits;
        Self {
            length,
            body,
            lag,
            patience: body,
            grace: lag,
            seen: now,
            arrived,
            others_waited: others_wait,
        }
    }

    /// Goes on after a wait for the budget, which was not the client's fault.
    pub(super) fn resume(&mut self, now: Instant) {
        self.seen = now;
    }

    /// How long to wait for more bytes before the next [`Self::check`].
    pub(super) fn wait(&self) -> Duration {
        self.patience.min(self.grace).min(self.lag / LOOKS)
    }

    /// How long it was waited for bytes so far.
    pub(super) fn waited(&self) -> Duration {
        self.body.saturating_sub(self.patience)
    }

    /// # Errors
    ///
    /// [`End::Stalled`] when the body's whole time is over, [`End::Lagging`] when too little arrived while others waited.
    pub(super) fn check(
        &mut self,
        now: Instant,
        arrived: usize,
        others_wait: bool,
    ) -> Result<(), End> {
        let passed = now.saturating_duration_since(self.seen);
        let earned = self.time_for(arrived - self.arrived);
        // Who begins to wait in between waits from now on.
        let grace = match (self.others_waited, others_wait) {
            (true, true) => (self.grace + earned).saturating_sub(passed).min(self.lag),
            _ => self.lag,
        };
        let patience = self.patience.saturating_sub(passed);
        *self = Self { patience, grace, seen: now, arrived, others_waited: others_wait, ..*self };
        if arrived == self.length {
            return Ok(());
        }
        if self.patience.is_zero() {
            return Err(End::Stalled("the body of a request did not arrive"));
        }
        if self.grace.is_zero() { Err(End::Lagging) } else { Ok(()) }
    }

    /// The time that so many bytes take of a body that is just there in time.
    fn time_for(&self, bytes: usize) -> Duration {
        self.body.mul_f64(bytes as f64 / self.length.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: usize = 60_000;

    fn limits() -> Limits {
        Limits {
            body: Duration::from_mins(1),
            lag: Duration::from_secs(1),
            ..Limits::new(&crate::config::Config::default().net)
        }
    }

    /// After so many bytes in each second, with others waiting or not, by a limit of 60 seconds: the second it ends in.
    #[track_caller]
    fn ends(bytes: &[usize], others_wait: &[bool]) -> Option<usize> {
        let begun = Instant::now();
        let mut progress = Progress::new(LENGTH, 0, &limits(), begun, false);
        let mut arrived = 0;
        (0..70).find(|&second| {
            arrived += bytes[second % bytes.len()];
            let now = begun + Duration::from_secs(1 + second as u64);
            let others_wait = others_wait[second % others_wait.len()];
            arrived < LENGTH && progress.check(now, arrived, others_wait).is_err()
        })
    }

    #[test]
    fn a_body_may_take_all_of_its_time_while_nobody_waits() {
        assert_eq!(ends(&[0], &[false]), Some(59));
        assert_eq!(ends(&[1], &[false]), Some(59));
        assert_eq!(ends(&[900, 1_200], &[false]), None);
    }

    #[test]
    fn while_others_wait_a_body_ends_the_sooner_the_less_of_it_comes() {
        assert_eq!(ends(&[0], &[true]), Some(1));
        assert_eq!(ends(&[500], &[true]), Some(2));
        assert_eq!(ends(&[900], &[true]), Some(10));
        assert_eq!(ends(&[1_000], &[true]), None, "just in time");
        assert_eq!(ends(&[0], &[true, false]), Some(59), "nobody waits long");
    }

    #[test]
    fn what_is_waited_for_the_budget_is_nobodys_lag() {
        let (limits, begun) = (limits(), Instant::now());
        let mut progress = Progress::new(LENGTH, 0, &limits, begun, false);
        assert!(progress.check(begun, 10, true).is_ok());
        let later = begun + 10 * limits.body;
        progress.resume(later);
        assert!(progress.check(later, 10, true).is_ok());
        assert_eq!(progress.waited(), Duration::ZERO);
        assert!(progress.check(later + limits.lag, 10, true).is_err());
    }
}
