//! Fetches that wait for more bytes. A wait costs nothing while it lasts: an append subtracts what it wrote from
//! what each fetch of its own partition misses, and wakes one only when nothing is missing any more.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// A fetch in the purgatory; shared by all partitions that it waits for.
#[derive(Debug)]
pub(super) struct DelayedFetch {
    missing_bytes: AtomicI64,
    ready: Notify,
}

impl DelayedFetch {
    pub(super) fn new(min_bytes: usize) -> Arc<Self> {
        let missing_bytes = AtomicI64::new(i64::try_from(min_bytes).unwrap_or(i64::MAX));
        Arc::new(Self { missing_bytes, ready: Notify::new() })
    }

    /// Something to read has come, or was there already.
    pub(super) fn add(&self, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let missing = self.missing_bytes.fetch_sub(bytes, Ordering::AcqRel);
        if missing > 0 && missing <= bytes {
            self.ready.notify_one();
        }
    }

    /// Ends the wait, whatever is missing.
    pub(super) fn complete(&self) {
        self.ready.notify_one();
    }

    pub(super) async fn completed(&self) {
        self.ready.notified().await;
    }
}

/// The fetches that wait for one partition.
#[derive(Debug, Default)]
pub(super) struct Purgatory {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    fetches: HashMap<u64, Arc<DelayedFetch>>,
    next_key: u64,
}

impl Purgatory {
    /// Adds a fetch; the key removes it again.
    pub(super) fn delay(&self, fetch: &Arc<DelayedFetch>) -> u64 {
        let mut waiting = self.waiting.lock();
        let key = waiting.next_key;
        waiting.next_key += 1;
        waiting.fetches.insert(key, Arc::clone(fetch));
        key
    }

    pub(super) fn remove(&self, key: u64) {
        self.waiting.lock().fetches.remove(&key);
    }

    /// `bytes` became visible to readers.
    pub(super) fn add(&self, bytes: usize) {
        for fetch in self.waiting.lock().fetches.values() {
            fetch.add(bytes);
        }
    }

    /// The partition changed its role or goes: who waits has to look again.
    pub(super) fn complete_all(&self) {
        for fetch in self.waiting.lock().fetches.values() {
            fetch.complete();
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.waiting.lock().fetches.len()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_fetch_wakes_when_nothing_is_missing_and_not_before() {
        let (fetch, purgatory) = (DelayedFetch::new(10), Purgatory::default());
        let key = purgatory.delay(&fetch);
        fetch.add(3);
        purgatory.add(6);
        assert_eq!(fetch.completed().now_or_never(), None);
        purgatory.add(1);
        assert_eq!(fetch.completed().now_or_never(), Some(()));
        purgatory.remove(key);
        assert_eq!(purgatory.len(), 0);
    }

    #[test]
    fn a_change_of_role_wakes_everyone() {
        let (fetch, purgatory) = (DelayedFetch::new(10), Purgatory::default());
        purgatory.delay(&fetch);
        purgatory.complete_all();
        assert_eq!(fetch.completed().now_or_never(), Some(()));
    }
}
