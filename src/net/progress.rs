//! How the body of a request gets on.
//!
//! Rule: a client may be slow while nobody minds. While others wait for the budget, a body of which less arrives than
//! its whole time allows for gives its share back soon.

use std::time::Duration;

use tokio::time::Instant;

use super::{Limits, end::End};

/// The time that a body has left, and the window in which its rate is measured.
pub(super) struct Progress {
    length: usize,
    body: Duration,
    lag: Duration,
    /// What is left of `body`.
    patience: Duration,
    /// Up to when `patience` was reduced.
    seen: Instant,
    window: Window,
}

struct Window {
    begun: Instant,
    /// Bytes that were there when it began.
    arrived: usize,
    /// Whether others waited then: who begins to wait in the middle of it waits for the next one.
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
        let window = Window { begun: now, arrived, others_waited: others_wait };
        let &Limits { body, lag, .. } = limits;
        Self { length, body, lag, patience: body, seen: now, window }
    }

    /// Goes on after a wait for the budget, which was not the client's fault.
    pub(super) fn resume(&mut self, now: Instant, arrived: usize, others_wait: bool) {
        self.seen = now;
        self.window = Window { begun: now, arrived, others_waited: others_wait };
    }

    /// How long to wait for more bytes before the next [`Self::check`].
    pub(super) fn wait(&self) -> Duration {
        self.patience.min((self.window.begun + self.lag).saturating_duration_since(self.seen))
    }

    /// # Errors
    ///
    /// [`End::Stalled`] when the body's whole time is over, [`End::Lagging`] when others waited for all of a window in
    /// which too little arrived.
    pub(super) fn check(
        &mut self,
        now: Instant,
        arrived: usize,
        others_wait: bool,
    ) -> Result<(), End> {
        self.patience = self.patience.saturating_sub(now.saturating_duration_since(self.seen));
        self.seen = now;
        if self.patience.is_zero() && arrived < self.length {
            return Err(End::Stalled("the body of a request did not arrive"));
        }
        if now.saturating_duration_since(self.window.begun) < self.lag {
            return Ok(());
        }
        let lags = arrived - self.window.arrived < self.least().min(self.length - arrived);
        if lags && self.window.others_waited && others_wait {
            return Err(End::Lagging);
        }
        self.resume(now, arrived, others_wait);
        Ok(())
    }

    /// The bytes of a window at the rate at which the body would just be there in time.
    fn least(&self) -> usize {
        let least = self.length as u128 * self.lag.as_millis() / self.body.as_millis().max(1);
        usize::try_from(least).unwrap_or(usize::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: usize = 60_000;

    /// After so many bytes in each second, with others waiting or not, by a limit of 60 seconds: the second it ends in.
    #[track_caller]
    fn ends(bytes: &[usize], others_wait: &[bool]) -> Option<usize> {
        let limits = Limits {
            body: Duration::from_mins(1),
            lag: Duration::from_secs(1),
            ..Limits::new(&crate::config::Config::default().net)
        };
        let begun = Instant::now();
        let mut progress = Progress::new(LENGTH, 0, &limits, begun, false);
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
    fn a_body_that_lags_behind_ends_once_others_have_waited_for_a_whole_window() {
        assert_eq!(ends(&[0], &[true]), Some(1));
        assert_eq!(ends(&[999], &[true]), Some(1));
        assert_eq!(ends(&[1_000], &[true]), None, "just in time");
        assert_eq!(ends(&[999], &[true, false]), Some(59), "nobody waits long");
    }

    #[test]
    fn what_is_waited_for_the_budget_is_nobodys_lag() {
        let limits = Limits::new(&crate::config::Config::default().net);
        let begun = Instant::now();
        let mut progress = Progress::new(LENGTH, 0, &limits, begun, false);
        let later = begun + 10 * limits.body;
        progress.resume(later, 10, true);
        assert!(progress.check(later, 10, true).is_ok());
        assert_eq!(progress.wait(), limits.lag);
        assert!(progress.check(later + limits.lag, 10, true).is_err());
    }
}
