//! What transforms remember between two batches of a partition: a cache, not a database.
//!
//! It is kept for one loaded version, and is empty after a reload, a failure or a move. It is bounded in all:
//! the partition that was used longest ago is forgotten first.

use std::collections::HashMap;

use crate::base::TopicPartition;

/// Bytes that one plugin's states may hold together.
const TOTAL_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What an entry costs besides its state.
const ENTRY_BYTES: usize = 128;

#[derive(Debug, Default)]
pub(super) struct StateCache {
    entries: HashMap<TopicPartition, Entry>,
    total_bytes: usize,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    /// The load whose guest wrote the state, or is about to.
    load_id: u64,
    state: Vec<u8>,
    last_use: u64,
}

impl StateCache {
    /// The state for a call of this load, and notes that its answer is awaited: [`Self::keep`] is ignored after
    /// a reload in between.
    pub(super) fn begin(&mut self, partition: &TopicPartition, load_id: u64) -> Vec<u8> {
        self.uses += 1;
        let last_use = self.uses;
        if let Some(entry) = self.entries.get_mut(partition) {
            entry.last_use = last_use;
            if entry.load_id == load_id {
                return entry.state.clone();
            }
        }
        self.put(partition, Entry { load_id, state: Vec::new(), last_use });
        Vec::new()
    }

    /// Keeps what a stored batch ended with.
    pub(super) fn keep(&mut self, partition: &TopicPartition, load_id: u64, state: Vec<u8>) {
        if self.entries.get(partition).is_some_and(|entry| entry.load_id == load_id) {
            self.uses += 1;
            self.put(partition, Entry { load_id, state, last_use: self.uses });
        }
    }

    pub(super) fn forget(&mut self, partition: &TopicPartition) {
        if let Some(entry) = self.entries.remove(partition) {
            self.total_bytes -= entry.state.len() + ENTRY_BYTES;
        }
    }

    fn put(&mut self, partition: &TopicPartition, entry: Entry) {
        self.forget(partition);
        let added = entry.state.len() + ENTRY_BYTES;
        while self.total_bytes + added > TOTAL_BYTES_MAX && self.forget_oldest() {}
        self.total_bytes += added;
        self.entries.insert(partition.clone(), entry);
    }

    /// False when nothing is left. Linear, but rare: thousands of partitions with full states.
    fn forget_oldest(&mut self) -> bool {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.last_use);
        let Some(partition) = oldest.map(|(partition, _)| partition.clone()) else { return false };
        self.forget(&partition);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(index: i32) -> TopicPartition {
        TopicPartition::new("logs", index)
    }

    #[test]
    fn a_state_is_kept_only_when_told_to() {
        let mut cache = StateCache::default();
        assert!(cache.begin(&partition(0), 1).is_empty());
        assert!(cache.begin(&partition(0), 1).is_empty());
        cache.keep(&partition(0), 1, vec![7]);
        assert_eq!(cache.begin(&partition(0), 1), [7]);
        assert!(cache.begin(&partition(1), 1).is_empty());
    }

    #[test]
    fn a_reload_empties_it_even_between_call_and_store() {
        let mut cache = StateCache::default();
        cache.begin(&partition(0), 1);
        cache.keep(&partition(0), 1, vec![7]);
        assert!(cache.begin(&partition(0), 2).is_empty());
        cache.keep(&partition(0), 1, vec![8]);
        assert!(cache.begin(&partition(0), 2).is_empty());
    }

    #[test]
    fn a_failure_or_a_move_forgets_one_partition() {
        let mut cache = StateCache::default();
        for index in 0..2 {
            cache.begin(&partition(index), 1);
            cache.keep(&partition(index), 1, vec![7]);
        }
        cache.forget(&partition(0));
        assert!(cache.begin(&partition(0), 1).is_empty());
        assert_eq!(cache.begin(&partition(1), 1), [7]);
    }

    #[test]
    fn it_never_holds_more_than_its_limit_and_forgets_the_oldest_first() {
        let mut cache = StateCache::default();
        for index in 0..1000 {
            cache.begin(&partition(index), 1);
            cache.keep(&partition(index), 1, vec![0; 64 * 1024]);
            assert!(cache.total_bytes <= TOTAL_BYTES_MAX);
        }
        assert!(cache.begin(&partition(0), 1).is_empty());
        assert_eq!(cache.begin(&partition(999), 1).len(), 64 * 1024);
    }
}
