//! When a plugin that fails again and again is left alone, and when it is tried again. Pure.
//!
//! Ten failures in a row begin a quarantine. When it has passed one call is let through: its success ends the
//! quarantine, its failure begins one twice as long.

use std::time::{Duration, Instant};

/// Failures in a row that begin a quarantine.
pub(super) const FAILURES_MAX: u32 = 10;

/// Successes after a failure until a plugin may use all threads again.
const SUCCESSES_FOR_TRUST: u32 = 10;

const FIRST_QUARANTINE: Duration = Duration::from_secs(1);
const LONGEST_QUARANTINE: Duration = Duration::from_mins(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// Call it.
    Call,
    /// Call it: this one decides whether the quarantine ends.
    Probe,
    /// Its policy applies without a call.
    Refuse,
}

/// The record of one loaded version.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    failures_in_row: u32,
    /// Above 0 from a failure on.
    successes_until_trust: u32,
    /// Since it began, while it lasts.
    confined: Option<Confined>,
}

#[derive(Debug)]
struct Confined {
    until: Instant,
    length: Duration,
    /// The one call that decides is under way since then.
    probe_since: Option<Instant>,
}

impl Quarantine {
    /// Whether a call may be made; a probe that never reports back is forgotten after a quarantine's length.
    pub(super) fn admit(&mut self, now: Instant) -> Admission {
        let Some(confined) = &mut self.confined else { return Admission::Call };
        let probing =
            confined.probe_since.is_some_and(|since| now.duration_since(since) < confined.length);
        if now < confined.until || probing {
            return Admission::Refuse;
        }
        confined.probe_since = Some(now);
        Admission::Probe
    }

    /// True when this ends a quarantine.
    pub(super) fn succeeded(&mut self) -> bool {
        self.failures_in_row = 0;
        self.successes_until_trust = self.successes_until_trust.saturating_sub(1);
        self.confined.take().is_some()
    }

    /// True when this begins one, the first or the next.
    pub(super) fn failed(&mut self, now: Instant) -> bool {
        self.successes_until_trust = SUCCESSES_FOR_TRUST;
        self.failures_in_row = self.failures_in_row.saturating_add(1);
        let length = match &self.confined {
            // One of the calls that were under way when it began.
            Some(confined) if confined.probe_since.is_none() => return false,
            Some(confined) => confined.length.saturating_mul(2).min(LONGEST_QUARANTINE),
            None if self.failures_in_row >= FAILURES_MAX => FIRST_QUARANTINE,
            None => return false,
        };
        self.confined = Some(Confined { until: now + length, length, probe_since: None });
        true
    }

    pub(super) fn is_confined(&self) -> bool {
        self.confined.is_some()
    }

    /// Whether it failed lately: if not, it shares the threads with others on equal terms.
    pub(super) fn is_trusted(&self) -> bool {
        self.successes_until_trust == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confined(now: Instant) -> Quarantine {
        let mut quarantine = Quarantine::default();
        for _ in 0..FAILURES_MAX - 1 {
            assert!(!quarantine.failed(now));
        }
        assert!(quarantine.failed(now));
        quarantine
    }

    #[test]
    fn ten_failures_in_a_row_begin_a_quarantine() {
        let now = Instant::now();
        let mut quarantine = confined(now);
        assert!(quarantine.is_confined());
        assert_eq!(quarantine.admit(now), Admission::Refuse);
    }

    #[test]
    fn a_success_in_between_starts_the_count_again() {
        let now = Instant::now();
        let mut quarantine = Quarantine::default();
        for _ in 0..FAILURES_MAX - 1 {
            quarantine.failed(now);
        }
        assert!(!quarantine.succeeded());
        assert!(!quarantine.failed(now));
        assert_eq!(quarantine.admit(now), Admission::Call);
    }

    #[test]
    fn one_probe_decides_and_each_failed_one_doubles_the_wait() {
        let now = Instant::now();
        let mut quarantine = confined(now);
        let mut at = now;
        for seconds in [1, 2, 4, 8] {
            at += Duration::from_millis(seconds * 1000 - 1);
            assert_eq!(quarantine.admit(at), Admission::Refuse, "after {seconds} s less 1 ms");
            at += Duration::from_millis(1);
            assert_eq!(quarantine.admit(at), Admission::Probe);
            assert_eq!(quarantine.admit(at), Admission::Refuse, "only one probe");
            assert!(quarantine.failed(at));
        }
        at += LONGEST_QUARANTINE;
        assert_eq!(quarantine.admit(at), Admission::Probe);
        assert!(quarantine.succeeded());
        assert_eq!(quarantine.admit(at), Admission::Call);
        assert_eq!(quarantine.admit(at), Admission::Call);
    }

    #[test]
    fn the_wait_is_bounded() {
        let mut at = Instant::now();
        let mut quarantine = confined(at);
        for _ in 0..40 {
            at += LONGEST_QUARANTINE;
            assert_eq!(quarantine.admit(at), Admission::Probe);
            quarantine.failed(at);
        }
    }

    #[test]
    fn calls_that_were_under_way_do_not_lengthen_it() {
        let now = Instant::now();
        let mut quarantine = confined(now);
        assert!(!quarantine.failed(now));
        assert_eq!(quarantine.admit(now + FIRST_QUARANTINE), Admission::Probe);
    }

    #[test]
    fn a_probe_that_never_reports_does_not_confine_for_ever() {
        let now = Instant::now();
        let mut quarantine = confined(now);
        let later = now + FIRST_QUARANTINE;
        assert_eq!(quarantine.admit(later), Admission::Probe);
        assert_eq!(quarantine.admit(later), Admission::Refuse);
        assert_eq!(quarantine.admit(later + FIRST_QUARANTINE), Admission::Probe);
    }

    #[test]
    fn trust_is_lost_by_one_failure_and_takes_ten_successes() {
        let mut quarantine = Quarantine::default();
        assert!(quarantine.is_trusted());
        quarantine.failed(Instant::now());
        for _ in 0..10 {
            assert!(!quarantine.is_trusted());
            quarantine.succeeded();
        }
        assert!(quarantine.is_trusted());
    }
}
