//! The shape of a replicated state machine: *decide* reads and returns a [`Decision`], *replay* applies
//! what was logged. A machine never sees a clock, a socket or a task: time arrives as an argument, and a
//! timeout is a request like any other.

/// What a request leads to: records to log, and the response to give once they are committed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Decision<R, T> {
    /// Written as one batch: all of them, or none.
    pub records: Vec<R>,
    /// Held back until the records are committed.
    pub response: T,
}

impl<R, T> Decision<R, T> {
    pub fn new(records: Vec<R>, response: T) -> Self {
        Self { records, response }
    }

    /// Nothing to log: the response goes out at once.
    pub fn response(response: T) -> Self {
        Self { records: Vec::new(), response }
    }
}

/// State that is rebuilt from a log by replay alone.
pub trait Machine {
    type Record;

    /// Applies a logged record. It cannot fail: what cannot be applied is not logged.
    fn replay(&mut self, record: Self::Record);
}
