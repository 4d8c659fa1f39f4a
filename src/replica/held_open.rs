//! How many segments answers may hold open while they are sent.
//!
//! Rule: nobody waits here. While slow readers hold all of them, an answer has the records of one partition.

use std::sync::Arc;

use rustix::process::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::log::LogSlice;

/// Enough for any reader, where the system sets no limit.
const HELD_MAX: usize = 65_536;

/// A part so large of the files that this process may open.
const PART: u64 = 8;

pub(super) struct HeldOpen(Arc<Semaphore>);

/// A partition's records, not read yet. They hold their file open until this is dropped.
#[derive(Debug)]
pub struct Records {
    pub slice: LogSlice,
    _held: Option<OwnedSemaphorePermit>,
}

impl Default for HeldOpen {
    fn default() -> Self {
        let files =
            getrlimit(Resource::Nofile).current.map_or(usize::MAX, |it| (it / PART) as usize);
        Self::new(files.min(HELD_MAX))
    }
}

/// Of a log of one's own, which no answers of others stand against.
impl From<LogSlice> for Records {
    fn from(slice: LogSlice) -> Self {
        Self { slice, _held: None }
    }
}

impl HeldOpen {
    fn new(files: usize) -> Self {
        Self(Arc::new(Semaphore::new(files)))
    }

    /// Counts one more; `None` where there is no room. The first of an answer is always let in.
    pub(super) fn hold(&self, slice: LogSlice, is_first: bool) -> Option<Records> {
        let held = Arc::clone(&self.0).try_acquire_owned().ok();
        (held.is_some() || is_first).then_some(Records { slice, _held: held })
    }
}

#[cfg(test)]
impl HeldOpen {
    /// As if slow readers held them all.
    pub(super) fn take_all(&self) {
        self.0.forget_permits(usize::MAX);
    }

    /// How many more there is room for.
    pub(super) fn room(&self) -> usize {
        self.0.available_permits()
    }
}
