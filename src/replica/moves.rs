//! Moves of replicas between the log directories of this node (KIP-113): asked for here, carried out one by one in the background.
//!
//! Rule: a move is in the table for as long as anything of it may be on its way, and whoever takes its copy out ends it. A directory
//! that fails ends the moves from and to it; the log stays where it is, and the next start goes on.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{Partition, ReplicaError, ReplicaManager, hosted::cause};
use crate::{
    base::TopicPartition,
    log::{Background, CopyProgress, FutureLog, LogDir, LogError},
};

/// Partitions that do not exist and whose directory is remembered all the same: anybody can name any.
const PREFERRED_MAX: usize = 10_000;

/// A replica on its way.
pub(super) struct Move {
    pub(super) partition: Arc<Partition>,
    pub(super) target: Arc<LogDir>,
    pub(super) progress: Arc<CopyProgress>,
    /// `None` once it is over.
    pub(super) future: Mutex<Option<FutureLog>>,
    /// Somebody works on it.
    is_claimed: AtomicBool,
}

/// All moves of a node.
pub(super) struct Moves {
    under_way: Mutex<BTreeMap<TopicPartition, Arc<Move>>>,
    /// The directory, by its place in `log.dirs`, in which a partition is to be made.
    preferred: Mutex<HashMap<TopicPartition, usize>>,
    /// Held by whoever begins or ends moves on request: the last one counts.
    pub(super) altering: Mutex<()>,
    pub(super) background: Background,
    /// Tells who carries them out of a new one.
    asked: Notify,
}

impl Move {
    /// Ends it, and removes what was copied.
    fn cancel(&self) {
        if let Some(future) = self.future.lock().take() {
            future.discard();
        }
    }
}

impl Moves {
    pub(super) fn new(bytes_per_second: u64) -> Self {
        Self {
            under_way: Mutex::default(),
            preferred: Mutex::default(),
            altering: Mutex::default(),
            background: Background::new(bytes_per_second as f64),
            asked: Notify::new(),
        }
    }

    /// Takes over a changed limit, also for what runs.
    pub(super) fn alter(&self, bytes_per_second: u64) {
        self.background.set_rate(bytes_per_second as f64);
    }

    pub(super) fn get(&self, partition: &TopicPartition) -> Option<Arc<Move>> {
        self.under_way.lock().get(partition).cloned()
    }

    /// Those to a directory.
    pub(super) fn to(&self, dir: &Arc<LogDir>) -> Vec<Arc<Move>> {
        let under_way = self.under_way.lock();
        under_way.values().filter(|it| Arc::ptr_eq(&it.target, dir)).cloned().collect()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.background.is_stopped()
    }

    /// One that nobody works on.
    pub(super) fn claim(&self) -> Option<Arc<Move>> {
        let under_way = self.under_way.lock();
        let is_free = |it: &&Arc<Move>| !it.is_claimed.swap(true, Ordering::AcqRel);
        under_way.values().find(is_free).cloned()
    }

    /// Takes a move out of the table, if it is still the partition's.
    pub(super) fn end(&self, it: &Arc<Move>) {
        let mut under_way = self.under_way.lock();
        let key = &it.partition.topic_partition;
        if under_way.get(key).is_some_and(|at| Arc::ptr_eq(at, it)) {
            under_way.remove(key);
        }
    }

    /// The directory in which a new partition is to be made. Asked once.
    pub(super) fn take_preferred(&self, partition: &TopicPartition) -> Option<usize> {
        self.preferred.lock().remove(partition)
    }

    fn prefer(&self, partition: &TopicPartition, dir: usize) {
        let mut preferred = self.preferred.lock();
        if preferred.len() < PREFERRED_MAX || preferred.contains_key(partition) {
            preferred.insert(partition.clone(), dir);
        }
    }

    fn cancel(&self, it: &Arc<Move>) {
        // In this order: a copy that has just come to its place is in the table until everybody knows.
        it.cancel();
        self.end(it);
    }
}

impl ReplicaManager {
    /// Moves a partition to another log directory, in the background. To the one it lies in already ends its move; a partition
    /// that does not exist is to be made there. Writes to disk.
    ///
    /// # Errors
    ///
    /// In Kafka's order: [`ReplicaError::NameTooLong`], [`ReplicaError::LogDirNotFound`], [`ReplicaError::Offline`] if the
    /// directory or the partition is, [`ReplicaError::ReplicaNotAvailable`] and [`ReplicaError::UnknownTopicOrPartition`].
    pub fn alter_log_dir(
        &self,
        partition: &TopicPartition,
        path: &Path,
    ) -> Result<(), ReplicaError> {
        if !LogDir::can_take(partition) {
            return Err(ReplicaError::NameTooLong);
        }
        let absolute = |it: &Arc<LogDir>| std::path::absolute(&it.path).is_ok_and(|it| it == path);
        let at = self.dirs.iter().position(absolute).ok_or(ReplicaError::LogDirNotFound)?;
        let target = self.dirs.get(at).ok_or(ReplicaError::LogDirNotFound)?;
        if !target.health.is_online() || self.could_not_open(partition) {
            return Err(ReplicaError::Offline);
        }
        let _altering = self.moves.altering.lock();
        let under_way = self.moves.get(partition);
        if let Some(other) = under_way.filter(|it| !Arc::ptr_eq(&it.target, target)) {
            self.moves.cancel(&other);
        }
        let Some(hosted) = self.hosted().get(partition).cloned() else {
            self.moves.prefer(partition, at);
            return Err(self.not_here(partition));
        };
        if !hosted.partition.log().is_online() {
            return Err(ReplicaError::Offline);
        }
        if hosted.lies_in(target) || self.moves.get(partition).is_some() {
            return Ok(());
        }
        Ok(self.begin_move(&hosted.partition, target)?)
    }

    fn not_here(&self, partition: &TopicPartition) -> ReplicaError {
        let count = self.partition_count(&partition.topic);
        if u32::try_from(partition.partition).is_ok_and(|it| it < count) {
            ReplicaError::ReplicaNotAvailable
        } else {
            ReplicaError::UnknownTopicOrPartition
        }
    }

    /// Makes the folder that it is moved to, and has it filled.
    pub(super) fn begin_move(
        &self,
        partition: &Arc<Partition>,
        target: &Arc<LogDir>,
    ) -> Result<(), LogError> {
        let key = &partition.topic_partition;
        let future = target.make_future(key, partition.topic_id).inspect_err(|error| {
            let (dir, cause) = (target.path.display(), cause(error));
            tracing::warn!(partition = %key, %dir, %error, cause, "could not begin to move a replica");
        })?;
        tracing::info!(partition = %key, to = %target.path.display(), "moves a replica to another log directory");
        let it = Move {
            partition: Arc::clone(partition),
            target: Arc::clone(target),
            progress: Arc::clone(future.progress()),
            future: Mutex::new(Some(future)),
            is_claimed: AtomicBool::new(false),
        };
        self.moves.under_way.lock().insert(key.clone(), Arc::new(it));
        self.moves.asked.notify_one();
        Ok(())
    }

    /// Ends the move of a partition that goes.
    pub(super) fn cancel_move(&self, partition: &TopicPartition) {
        if let Some(it) = self.moves.get(partition) {
            self.moves.cancel(&it);
        }
    }

    /// Waits until a replica is to be moved.
    pub async fn move_asked(&self) {
        self.moves.asked.notified().await;
    }

    /// Ends what runs, soon; the next start goes on.
    pub fn stop_moves(&self) {
        self.moves.background.stop();
    }
}
