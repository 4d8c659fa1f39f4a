//! What fetches may hold in memory, from the read until the answer has left.
//!
//! Rule: nobody waits here. Whoever comes while slow readers hold everything is served in small answers.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most that the answers of all connections may hold, besides small ones.
const HELD_BYTES_MAX: usize = 256 * 1024 * 1024;
/// An answer of this size needs no share.
const SMALL_BYTES: usize = 64 * 1024;
/// A permit is a KiB, so that a share fits the semaphore's `u32`.
const UNIT_BYTES: usize = 1024;

pub(super) struct ReadBudget(Arc<Semaphore>);

/// A part of the budget, given back when dropped.
#[derive(Debug)]
pub struct ReadShare {
    permit: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl Default for ReadBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(HELD_BYTES_MAX / UNIT_BYTES)))
    }
}

impl ReadBudget {
    /// A share of `wanted` bytes, or of as many as are left.
    pub(super) fn take(&self, wanted: usize) -> ReadShare {
        let mut bytes = wanted;
        while bytes > SMALL_BYTES {
            let units = units(bytes);
            if let Ok(permit) = Arc::clone(&self.0).try_acquire_many_owned(units) {
                return ReadShare { permit: Some(permit), bytes };
            }
            bytes /= 2;
        }
        ReadShare { permit: None, bytes }
    }
}

impl ReadShare {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives back what was not used.
    pub(super) fn shrink(&mut self, used: usize) {
        if let Some(permit) = &mut self.permit {
            let unused = permit.num_permits().saturating_sub(units(used) as usize);
            drop(permit.split(unused));
        }
    }
}

fn units(bytes: usize) -> u32 {
    bytes.div_ceil(UNIT_BYTES) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_get_smaller_as_less_is_left_and_come_back_when_dropped() {
        let budget = ReadBudget::default();
        let first = budget.take(HELD_BYTES_MAX - 300 * 1024);
        assert_eq!(first.bytes(), HELD_BYTES_MAX - 300 * 1024);
        let second = budget.take(1024 * 1024);
        assert_eq!(second.bytes(), 256 * 1024);
        assert_eq!(budget.take(1024 * 1024).bytes(), SMALL_BYTES);
        drop(first);
        assert_eq!(budget.take(1024 * 1024).bytes(), 1024 * 1024);
    }

    #[test]
    fn what_was_not_read_is_given_back() {
        let budget = ReadBudget::default();
        let mut share = budget.take(HELD_BYTES_MAX);
        share.shrink(1000);
        let left = HELD_BYTES_MAX - UNIT_BYTES;
        assert_eq!(budget.take(left).bytes(), left);
    }
}
