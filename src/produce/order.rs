//! Keeps the alert coordinator's order that of the log: an append and the sending of its verdicts are one step.

use std::hash::{DefaultHasher, Hash, Hasher};

use parking_lot::{Mutex, MutexGuard};

use crate::base::TopicPartition;

/// Locks by partition. A few share one, which costs a wait and never order.
pub(crate) struct AppendOrder([Mutex<()>; 64]);

impl Default for AppendOrder {
    fn default() -> Self {
        Self([const { Mutex::new(()) }; 64])
    }
}

impl AppendOrder {
    /// Held for one append and the sends after it, never across an await.
    #[expect(clippy::indexing_slicing, reason = "the index is taken modulo the length")]
    pub(crate) fn lock(&self, partition: &TopicPartition) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        partition.hash(&mut hasher);
        self.0[hasher.finish() as usize % self.0.len()].lock()
    }
}
