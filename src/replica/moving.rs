//! Carries a move out: copies until nothing is missing, lets the copy take the log's place, and tells everybody where it lies now.

use std::{sync::Arc, time::Duration};

use super::{ReplicaManager, hosted::cause, moves::Move};
use crate::log::{FutureLog, LogError, Moved, Pause};

/// How much is copied between two looks at whether the move goes on.
const STEP_BYTES: usize = 1024 * 1024;

/// How much may be missing when appends are made to wait. It is doubled while a log grows too fast.
const LAST_BYTES: u64 = 1024 * 1024;
const LAST_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The longest wait for the cleaner without a look at whether the node stops.
const WAIT: Duration = Duration::from_millis(50);

/// Whether a step was the last one.
pub(super) enum Step {
    /// So many bytes were copied.
    Copied(usize),
    /// It came too far behind to end it.
    Behind,
    Over,
}

impl ReplicaManager {
    /// Carries out a move that nobody works on, to its end; `false` if there is none. Reads and writes for as long as it takes.
    pub fn carry_out_move(&self) -> bool {
        let Some(it) = self.moves.claim() else { return false };
        let Some(_pause) = self.pause_cleaning(&it) else { return true };
        let mut last_bytes = LAST_BYTES;
        while !self.moves.is_stopped() {
            match self.step(&it, last_bytes) {
                Step::Copied(bytes) => self.moves.background.spend(bytes),
                Step::Behind => last_bytes = (last_bytes * 2).min(LAST_BYTES_MAX),
                Step::Over => break,
            }
        }
        true
    }

    /// As in Kafka a log is not compacted while it moves: what is copied would be gone again and again.
    fn pause_cleaning<'a>(&self, it: &'a Move) -> Option<Pause<'a>> {
        loop {
            if let Some(pause) = it.partition.log().pause_cleaning(WAIT) {
                return Some(pause);
            }
            if self.moves.is_stopped() || it.future.lock().is_none() {
                return None;
            }
        }
    }

    /// Goes on with a move, holding nobody up.
    pub(super) fn step(&self, it: &Arc<Move>, last_bytes: u64) -> Step {
        let mut held = it.future.lock();
        // Cancelled by whoever took it.
        let Some(future) = held.as_mut() else { return Step::Over };
        if !it.target.health.is_online() {
            let reason = LogError::Offline(it.target.path.clone());
            return self.give_up(it, held.take(), &reason);
        }
        match future.copy(it.partition.log(), STEP_BYTES) {
            Ok(0) => {}
            Ok(bytes) => return Step::Copied(bytes),
            Err(error) => return self.give_up(it, held.take(), &error),
        }
        match future.sync(it.partition.log()) {
            Ok(()) => self.land(it, &mut held, last_bytes),
            Err(error) => self.give_up(it, held.take(), &error),
        }
    }

    /// Lets a copy that lacks little take the log's place.
    fn land(&self, it: &Arc<Move>, held: &mut Option<FutureLog>, last_bytes: u64) -> Step {
        // Before: after a kill right behind it, what was deleted on request must not be back.
        if let Err(error) = self.try_store_log_starts(&it.target) {
            return self.give_up(it, held.take(), &error);
        }
        let Some(future) = held.take() else { return Step::Over };
        match it.partition.log().move_to(future, last_bytes) {
            Moved::There(left) => {
                self.settle(it);
                left.remove();
            }
            Moved::NotYet(future) => {
                *held = Some(future);
                return Step::Behind;
            }
            Moved::Failed(future, error) => return self.give_up(it, Some(future), &error),
            Moved::Undecided => self.moves.end(it),
        }
        Step::Over
    }

    /// The log lies in its new directory: from now on it is flushed, checked and told of with that.
    fn settle(&self, it: &Arc<Move>) {
        let key = &it.partition.topic_partition;
        if let Some(hosted) = self.hosted().get(key)
            && Arc::ptr_eq(&hosted.partition, &it.partition)
        {
            hosted.set_dir(&it.target);
        }
        self.moves.end(it);
        self.store_checkpoints();
        tracing::info!(partition = %key, to = %it.target.path.display(), "moved a replica to another log directory");
    }

    /// The log stays where it is. What was copied stays too while a directory is offline: the next start goes on.
    fn give_up(&self, it: &Arc<Move>, future: Option<FutureLog>, error: &LogError) -> Step {
        let log = it.partition.log();
        if let Some(future) = future
            && it.target.health.is_online()
            && log.is_online()
        {
            future.discard();
        }
        self.moves.end(it);
        if !matches!(error, LogError::Closed(_)) {
            let (partition, dir) = (&it.partition.topic_partition, it.target.path.display());
            let cause = cause(error);
            tracing::error!(%partition, to = %dir, %error, cause, "could not move a replica: it stays where it is");
        }
        Step::Over
    }
}
