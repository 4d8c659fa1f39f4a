//! Work on many logs at once: `num.recovery.threads.per.data.dir` threads for each directory, so that one slow disk holds up no
//! other.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::ReplicaManager;
use crate::log::LogDir;

impl ReplicaManager {
    /// Works on all items, those of a directory by its own threads.
    pub(super) fn each_in_its_dir<T: Sync>(
        &self,
        items: &[T],
        dir: impl Fn(&T) -> Arc<LogDir>,
        work: impl Fn(&T) + Sync,
    ) {
        let mut by_dir: BTreeMap<PathBuf, Vec<&T>> = BTreeMap::new();
        for it in items {
            by_dir.entry(dir(it).path.clone()).or_default().push(it);
        }
        let threads = self.altered.load().log.recovery_threads_per_dir;
        thread::scope(|scope| {
            for items in by_dir.values() {
                let next = Arc::new(AtomicUsize::new(0));
                for _ in 0..threads.min(items.len()) {
                    let (next, work) = (Arc::clone(&next), &work);
                    scope.spawn(move || {
                        while let Some(it) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                            work(it);
                        }
                    });
                }
            }
        });
    }
}
