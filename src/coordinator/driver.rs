//! A machine as the runtime sees it: what it is told, and what it asks for in return.

use super::append::StoredRecord;
use crate::base::TimestampMs;

/// Why a machine cannot answer now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// Its log is being replayed.
    Loading,
    /// Records were not committed: the machine is loaded again.
    Lost,
}

/// An answer that leaves when its records are committed, or says that they were not.
pub(crate) type Reply = Box<dyn FnOnce(Result<(), Unavailable>) + Send>;

/// What an event leads to.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) records: Vec<StoredRecord>,
    pub(crate) replies: Vec<Reply>,
}

/// A machine as this runtime sees it.
pub(crate) trait Driver: Send + 'static {
    type Event: Send + 'static;

    /// Applies a stored record; what it cannot read it skips with a warning.
    fn replay(&mut self, record: &StoredRecord);

    /// The whole log has been replayed.
    fn loaded(&mut self, now: TimestampMs) -> Work;

    fn handle(&mut self, event: Self::Event, now: TimestampMs) -> Work;

    /// When it wants to be woken.
    fn next_deadline(&self) -> Option<TimestampMs>;

    fn tick(&mut self, now: TimestampMs) -> Work;

    /// Answers an event that no machine can take.
    fn refuse(event: Self::Event, why: Unavailable);
}
