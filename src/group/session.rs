//! When a member is given up.

use crate::base::TimestampMs;

/// A sign of life only moves the deadline; the timer that fires early is armed again, so that each member has about
/// one timer however often it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Session {
    deadline: TimestampMs,
    armed: Option<TimestampMs>,
}

/// What a timer of a session finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// Another timer stands for this session by now.
    Stale,
    /// The member has shown that it lives: wait until then.
    Until(TimestampMs),
    Expired,
}

impl Session {
    /// Moves the deadline; the moment for a timer unless one fires early enough.
    pub(super) fn keep_until(&mut self, deadline: TimestampMs) -> Option<TimestampMs> {
        self.deadline = deadline;
        let must_arm = self.armed.is_none_or(|armed| deadline < armed);
        must_arm.then(|| *self.armed.insert(deadline))
    }

    pub(super) fn fire(&mut self, now: TimestampMs) -> Wake {
        if self.armed.is_none_or(|armed| now < armed) {
            return Wake::Stale;
        }
        self.armed = None;
        if now < self.deadline { Wake::Until(self.deadline) } else { Wake::Expired }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: fn(i64) -> TimestampMs = TimestampMs;

    #[test]
    fn signs_of_life_need_no_timer_of_their_own() {
        let mut session = Session::default();
        assert_eq!(session.keep_until(AT(10)), Some(AT(10)));
        assert_eq!(session.keep_until(AT(15)), None);
        assert_eq!(session.fire(AT(10)), Wake::Until(AT(15)));
        assert_eq!(session.keep_until(AT(15)), Some(AT(15)));
        assert_eq!(session.fire(AT(15)), Wake::Expired);
    }

    #[test]
    fn a_shorter_session_gets_an_earlier_timer_and_the_old_one_finds_nothing() {
        let mut session = Session::default();
        assert_eq!(session.keep_until(AT(20)), Some(AT(20)));
        assert_eq!(session.keep_until(AT(10)), Some(AT(10)));
        assert_eq!(session.fire(AT(10)), Wake::Expired);
        assert_eq!(session.fire(AT(20)), Wake::Stale);
    }
}
