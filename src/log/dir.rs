//! A log directory: locked by one process, owned by one node of one cluster, and offline for good after a failure that
//! leaves in doubt what is on disk.
//!
//! | file                               | holds                                                                  |
//! |------------------------------------|------------------------------------------------------------------------|
//! | `.lock`                            | nothing; locked while a node runs                                      |
//! | `meta.properties`                  | `version`, `node.id`, `cluster.id`, `directory.id`                     |
//! | `.kafka_cleanshutdown`             | there after a clean stop, until the next start                         |
//! | `recovery-point-offset-checkpoint` | up to where each partition's segments are on disk for sure             |
//! | `log-start-offset-checkpoint`      | up to where records were deleted on request, where segments do not tell |
//! | `cleaner-offset-checkpoint`        | up to where each compacted partition is clean                          |

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::{
    Log, LogError, LogSettings,
    file::{Disk, RealDisk},
    file_name,
    health::Health,
    meta_properties::{self, Meta},
    offset_checkpoint::OffsetCheckpoint,
    partition_metadata,
    recovery::Opening,
};
use crate::base::{BrokerId, Offset, TimestampMs, TopicId, TopicPartition};

/// What a disk does well at once.
const FSYNCS_AT_ONCE: usize = 8;
const LOCK: &str = ".lock";
const CLEAN_SHUTDOWN: &str = ".kafka_cleanshutdown";
const RECOVERY_POINTS: &str = "recovery-point-offset-checkpoint";
const LOG_STARTS: &str = "log-start-offset-checkpoint";
const CLEANER_POINTS: &str = "cleaner-offset-checkpoint";

/// A folder of `log.dirs` with the partitions in it.
#[derive(Debug)]
pub struct LogDir {
    pub path: PathBuf,
    pub health: Arc<Health>,
    /// Turns of the fsyncs that producers wait for: more at a time would only take threads.
    pub fsyncs: Arc<Semaphore>,
    pub(super) disk: Arc<dyn Disk>,
    /// `None` for one that could not be opened.
    meta: Mutex<Option<Meta>>,
    /// Found at the start: the last stop was clean.
    clean: bool,
    recovery_points: OffsetCheckpoint,
    log_starts: OffsetCheckpoint,
    cleaner_points: OffsetCheckpoint,
    /// Locked until it is dropped.
    _lock: Option<fs::File>,
}

impl LogDir {
    /// Locks the directory (made if absent) for this node.
    ///
    /// # Errors
    ///
    /// [`LogError::DirectoryRefused`] if another process holds it or it belongs to another node.
    pub fn open(path: &Path, node_id: BrokerId) -> Result<Self, LogError> {
        Self::open_on(Arc::new(RealDisk), path, node_id)
    }

    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        node_id: BrokerId,
    ) -> Result<Self, LogError> {
        disk.create_dir_all(path).map_err(LogError::storage("create", path))?;
        let lock = lock(path)?;
        let meta = meta_properties::own(disk.as_ref(), path, node_id)?;
        let clean = path.join(CLEAN_SHUTDOWN).exists();
        let dir = Self {
            path: path.to_owned(),
            health: Arc::default(),
            fsyncs: Arc::new(Semaphore::new(FSYNCS_AT_ONCE)),
            // A damaged one means that everything is checked.
            recovery_points: OffsetCheckpoint::read(disk.as_ref(), path.join(RECOVERY_POINTS))?,
            log_starts: read_log_starts(disk.as_ref(), path)?,
            cleaner_points: read_cleaner_points(disk.as_ref(), path)?,
            disk,
            meta: Mutex::new(Some(meta)),
            clean,
            _lock: Some(lock),
        };
        dir.remove_deleted_folders()?;
        Ok(dir)
    }

    /// A directory that could not be opened: offline from the start, and nothing in it is touched.
    pub fn unusable(path: &Path, reason: &LogError) -> Self {
        let health = Health::default();
        health.take_offline(reason);
        Self {
            path: path.to_owned(),
            health: Arc::new(health),
            fsyncs: Arc::new(Semaphore::new(FSYNCS_AT_ONCE)),
            disk: Arc::new(RealDisk),
            meta: Mutex::new(None),
            clean: false,
            recovery_points: OffsetCheckpoint::none(path.join(RECOVERY_POINTS)),
            log_starts: OffsetCheckpoint::none(path.join(LOG_STARTS)),
            cleaner_points: OffsetCheckpoint::none(path.join(CLEANER_POINTS)),
            _lock: None,
        }
    }

    /// Whether the last stop was clean, so that logs need not be checked.
    pub fn was_clean(&self) -> bool {
        self.clean
    }

    /// Ties the directory to a cluster, for good, and takes the clean-shutdown marker away: from now on its logs may change.
    ///
    /// # Errors
    ///
    /// [`LogError::DirectoryRefused`] if it belongs to another one.
    pub fn claim(&self, cluster_id: &str) -> Result<(), LogError> {
        if let Some(meta) = self.meta.lock().as_mut() {
            meta.claim(self.disk.as_ref(), &self.path, cluster_id)?;
            self.remove_marker()?;
        }
        Ok(())
    }

    /// Partitions with a folder here.
    pub fn partitions(&self) -> Result<Vec<TopicPartition>, LogError> {
        let names = self.disk.list(&self.path).map_err(LogError::storage("list", &self.path))?;
        let is_folder = |name: &String| self.path.join(name).is_dir();
        Ok(names
            .iter()
            .filter(|it| is_folder(it))
            .filter_map(|it| file_name::partition(it))
            .collect())
    }

    /// Whether a partition was here at the last stop and was not opened since.
    pub fn remembers(&self, partition: &TopicPartition) -> bool {
        self.recovery_points.found(partition).is_some()
    }

    /// Forgets where the logs of other partitions than these began and ended: the next topic of such a name is a new one.
    pub fn forget_all_but(&self, is_wanted: impl Fn(&TopicPartition) -> bool) {
        self.recovery_points.forget_all_but(&is_wanted);
        self.log_starts.forget_all_but(&is_wanted);
        self.cleaner_points.forget_all_but(is_wanted);
    }

    /// Opens or makes the log of a partition. A folder left by another topic of the same name is put aside. Where there is no
    /// folder, or an empty one, but the checkpoint knows of records, the log goes on behind them.
    pub fn open_log(
        &self,
        partition: &TopicPartition,
        topic_id: TopicId,
        settings: LogSettings,
        now: TimestampMs,
    ) -> Result<Log, LogError> {
        let opened = self.try_open_log(partition, topic_id, settings, now);
        opened.map_err(|it| self.health.failed_this_time(it))
    }

    fn try_open_log(
        &self,
        partition: &TopicPartition,
        topic_id: TopicId,
        settings: LogSettings,
        now: TimestampMs,
    ) -> Result<Log, LogError> {
        let dir = self.path.join(partition.to_string());
        let found = partition_metadata::read(self.disk.as_ref(), &dir)?;
        if found.is_some_and(|it| it != topic_id) {
            self.put_aside(partition, &dir)?;
        }
        let found_in = |it: &OffsetCheckpoint| it.found(partition).unwrap_or_default();
        let opening = Opening {
            clean: self.clean,
            recovery_point: found_in(&self.recovery_points),
            log_start: found_in(&self.log_starts),
        };
        let (disk, health) = (Arc::clone(&self.disk), Arc::clone(&self.health));
        let log = Log::open_on(disk, dir.clone(), health, settings, opening, now)?;
        if let Some(point) = self.cleaner_points.found(partition) {
            log.set_first_dirty(point);
        }
        if found != Some(topic_id) {
            partition_metadata::write(self.disk.as_ref(), &dir, topic_id)?;
        }
        Ok(log)
    }

    /// Puts aside what is of no topic any more, asked once after a start: the node ended between the deletion of a topic and
    /// that of its records.
    pub fn put_strays_aside(
        &self,
        is_wanted: impl Fn(&TopicPartition, TopicId) -> bool,
    ) -> Result<(), LogError> {
        for partition in self.partitions()? {
            let dir = self.path.join(partition.to_string());
            let found = partition_metadata::read(self.disk.as_ref(), &dir)?;
            if found.is_some_and(|it| !is_wanted(&partition, it)) {
                self.put_aside(&partition, &dir)?;
            }
        }
        Ok(())
    }

    /// Renames a folder that belongs to another topic. Its records are not deleted: the metadata that says so may be
    /// what is wrong.
    pub(super) fn put_aside(&self, partition: &TopicPartition, dir: &Path) -> Result<(), LogError> {
        let name = file_name::out_of_the_way(&partition.to_string(), file_name::STRAY);
        let stray = self.path.join(name);
        tracing::warn!(%partition, stray = %stray.display(), "put the records of a topic aside that is not there any more");
        self.disk.rename(dir, &stray).map_err(LogError::storage("rename", dir))?;
        // The checkpoints know names alone: they speak of that topic.
        self.recovery_points.forget(partition);
        self.log_starts.forget(partition);
        self.cleaner_points.forget(partition);
        Ok(())
    }

    /// Writes from where the recovery of each partition begins after a crash. Those that were not opened keep their points.
    pub fn store_recovery_points(
        &self,
        opened: impl FnOnce() -> Vec<(TopicPartition, Option<Offset>)>,
    ) -> Result<(), LogError> {
        let stored = self.recovery_points.store(self.disk.as_ref(), opened);
        stored.map_err(|it| self.health.failed(it))
    }

    /// Writes down where logs begin, by [`Log::start_within_segments`]: before anyone is told that records are deleted.
    pub fn store_log_starts(
        &self,
        opened: impl FnOnce() -> Vec<(TopicPartition, Option<Offset>)>,
    ) -> Result<(), LogError> {
        let stored = self.log_starts.store(self.disk.as_ref(), opened);
        stored.map_err(|it| self.health.failed(it))
    }

    /// Writes up to where each compacted partition is clean.
    pub fn store_cleaner_points(
        &self,
        opened: impl FnOnce() -> Vec<(TopicPartition, Option<Offset>)>,
    ) -> Result<(), LogError> {
        let stored = self.cleaner_points.store(self.disk.as_ref(), opened);
        stored.map_err(|it| self.health.failed(it))
    }

    /// Says that every log was closed.
    pub fn mark_clean(&self) -> Result<(), LogError> {
        self.replace(&self.path.join(CLEAN_SHUTDOWN), b"{\"version\":0}")
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), LogError> {
        let written = self.disk.replace(path, bytes, true);
        written.map_err(|it| self.health.failed(LogError::storage("write", path)(it)))
    }

    fn remove_marker(&self) -> Result<(), LogError> {
        let path = self.path.join(CLEAN_SHUTDOWN);
        if !self.clean {
            return Ok(());
        }
        self.disk.remove(&path).map_err(LogError::storage("remove", &path))?;
        self.disk.sync_dir(&self.path).map_err(LogError::storage("fsync", &self.path))
    }

    /// A crash may have left folders that were renamed to be deleted.
    fn remove_deleted_folders(&self) -> Result<(), LogError> {
        let names = self.disk.list(&self.path).map_err(LogError::storage("list", &self.path))?;
        for name in names.iter().filter(|it| file_name::is_deleted_folder(it)) {
            let path = self.path.join(name);
            self.disk.remove_dir_all(&path).map_err(LogError::storage("remove", &path))?;
        }
        Ok(())
    }
}

fn lock(path: &Path) -> Result<fs::File, LogError> {
    let lock_path = path.join(LOCK);
    let file = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&lock_path)
        .map_err(LogError::storage("open", &lock_path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(LogError::DirectoryRefused {
            path: path.to_owned(),
            reason: "another process holds its lock: is Klamm (or Kafka) running there?".into(),
        }),
        Err(fs::TryLockError::Error(error)) => Err(LogError::storage("lock", &lock_path)(error)),
    }
}

fn read_log_starts(disk: &dyn Disk, path: &Path) -> Result<OffsetCheckpoint, LogError> {
    let starts = OffsetCheckpoint::read(disk, path.join(LOG_STARTS))?;
    if starts.is_damaged() {
        let path = starts.path().display();
        tracing::warn!(%path, "a damaged checkpoint: records that were deleted on request may be read again");
    }
    Ok(starts)
}

fn read_cleaner_points(disk: &dyn Disk, path: &Path) -> Result<OffsetCheckpoint, LogError> {
    let points = OffsetCheckpoint::read(disk, path.join(CLEANER_POINTS))?;
    if points.is_damaged() {
        let path = points.path().display();
        tracing::warn!(%path, "a damaged checkpoint: the cleaner looks at every compacted log from its start");
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_serves_one_process_of_one_node_of_one_cluster() {
        let root = tempfile::tempdir().unwrap();
        let dir = LogDir::open(root.path(), BrokerId(1)).unwrap();
        let error = LogDir::open(root.path(), BrokerId(1)).unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
        dir.claim("a").unwrap();
        drop(dir);

        let error = LogDir::open(root.path(), BrokerId(2)).unwrap_err();
        assert!(error.to_string().contains("belongs to node 1"), "{error}");
        let dir = LogDir::open(root.path(), BrokerId(1)).unwrap();
        dir.claim("a").unwrap();
        let error = dir.claim("b").unwrap_err();
        assert!(error.to_string().contains("cluster a"), "{error}");
    }

    #[test]
    fn the_clean_shutdown_marker_is_good_for_one_start_that_touches_logs() {
        let root = tempfile::tempdir().unwrap();
        let dir = LogDir::open(root.path(), BrokerId(1)).unwrap();
        assert!(!dir.clean);
        dir.mark_clean().unwrap();
        drop(dir);
        let dir = LogDir::open(root.path(), BrokerId(1)).unwrap();
        assert!(dir.clean);
        drop(dir);
        // A start that ended before it touched a log leaves it.
        let dir = LogDir::open(root.path(), BrokerId(1)).unwrap();
        assert!(dir.clean);
        dir.claim("a").unwrap();
        drop(dir);
        assert!(!LogDir::open(root.path(), BrokerId(1)).unwrap().clean);
    }

    #[test]
    fn recovery_points_survive() {
        let root = tempfile::tempdir().unwrap();
        let dir = LogDir::open(root.path(), BrokerId(1)).unwrap();
        let partition = TopicPartition::new("a", 3);
        dir.store_recovery_points(|| vec![(partition.clone(), Some(Offset(9)))]).unwrap();
        drop(dir);
        let dir = LogDir::open(root.path(), BrokerId(1)).unwrap();
        assert_eq!(dir.recovery_points.found(&partition), Some(Offset(9)));
        // Also when the partition could not be opened meanwhile.
        dir.store_recovery_points(Vec::new).unwrap();
        drop(dir);
        let dir = LogDir::open(root.path(), BrokerId(1)).unwrap();
        assert!(dir.remembers(&partition));
        dir.forget_all_but(|it| *it != partition);
        assert!(!dir.remembers(&partition));
    }
}
