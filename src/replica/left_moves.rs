//! Moves that the last stop has interrupted: begun anew at a start, since the log may have changed after what was copied of it.

use std::sync::Arc;

use super::{
    ReplicaManager,
    hosted::{Hosted, cause},
};
use crate::log::{LeftFuture, LogDir};

impl ReplicaManager {
    /// Begins them anew, and removes what is left of those whose partition is gone, or lies there.
    pub(super) fn resume_moves(&self) {
        let _altering = self.moves.altering.lock();
        for dir in self.online_dirs() {
            let left = self.left_moves(dir);
            let resumed: Vec<_> = left.into_iter().filter_map(|it| self.clear(it, dir)).collect();
            for hosted in resumed {
                if self.moves.get(&hosted.partition.topic_partition).is_none() {
                    // Told where it fails.
                    let _ = self.begin_move(&hosted.partition, dir);
                }
            }
        }
    }

    /// Those of partitions that are known to be there or gone.
    fn left_moves(&self, dir: &Arc<LogDir>) -> Vec<LeftFuture> {
        let mut left = dir.left_futures().unwrap_or_else(|error| {
            let cause = cause(&error);
            tracing::warn!(dir = %dir.path.display(), %error, cause, "could not look for interrupted moves");
            Vec::new()
        });
        let goes_on = |it: &LeftFuture| {
            let under_way = self.moves.get(&it.partition);
            under_way.is_some_and(|at| Arc::ptr_eq(&at.target, dir))
        };
        left.retain(|it| !goes_on(it) && !self.could_not_open(&it.partition));
        left
    }

    /// Removes what was copied; returns the partition if it is still to be moved.
    fn clear(&self, left: LeftFuture, dir: &Arc<LogDir>) -> Option<Arc<Hosted>> {
        let (partition, topic_id) = (left.partition.clone(), left.topic_id);
        if let Err(error) = left.remove() {
            let cause = cause(&error);
            tracing::warn!(%partition, %error, cause, "could not remove what an interrupted move has copied");
            return None;
        }
        let hosted = self.hosted().get(&partition).cloned();
        hosted.filter(|it| Some(it.partition.topic_id) == topic_id && !it.lies_in(dir))
    }
}
