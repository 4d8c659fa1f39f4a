//! Logs that are on their way into a log directory, and those that a crash has left half way.

use std::{path::PathBuf, sync::Arc};

use super::{
    FutureLog, LogDir, LogError, file::Disk, file_name, future::MOVING, partition_metadata,
};
use crate::base::{TopicId, TopicPartition};

/// A folder that a partition was being moved to when the node ended.
#[derive(Debug)]
pub struct LeftFuture {
    pub partition: TopicPartition,
    /// `None` where its folder does not tell.
    pub topic_id: Option<TopicId>,
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl LeftFuture {
    /// Removes the folder: what is in it may be incomplete, and of a log that has changed since.
    pub fn remove(self) -> Result<(), LogError> {
        self.disk.remove_dir_all(&self.path).map_err(LogError::storage("remove", &self.path))
    }
}

impl LogDir {
    /// Whether the name of a partition leaves room for that of the folder it is moved to.
    pub fn can_take(partition: &TopicPartition) -> bool {
        file_name::can_be_future(&partition.to_string())
    }

    /// Makes the folder that a log is moved to, durably. What has the partition's name here already is of nobody, as the log lies
    /// elsewhere, and put aside.
    pub fn make_future(
        &self,
        partition: &TopicPartition,
        topic_id: TopicId,
    ) -> Result<FutureLog, LogError> {
        let place = self.path.join(partition.to_string());
        let name = file_name::out_of_the_way(&partition.to_string(), file_name::FUTURE);
        let dir = self.path.join(name);
        let future = FutureLog::empty(
            Arc::clone(&self.disk),
            Arc::clone(&self.health),
            dir.clone(),
            place.clone(),
        );
        let make = || {
            if place.exists() {
                self.put_aside(partition, &place)?;
            }
            self.disk.create_dir_all(&dir).map_err(LogError::storage("create", &dir))?;
            let marker = dir.join(MOVING);
            let written = self.disk.replace(&marker, b"", true);
            written.map_err(LogError::storage("write", &marker))?;
            partition_metadata::write(self.disk.as_ref(), &dir, topic_id)?;
            self.disk.sync_dir(&self.path).map_err(LogError::storage("fsync", &self.path))
        };
        match make() {
            Ok(()) => Ok(future),
            Err(error) => {
                let error = self.health.failed_this_time(error);
                if self.health.is_online() {
                    future.discard();
                }
                Err(error)
            }
        }
    }

    /// Folders of moves that a stop has interrupted.
    pub fn left_futures(&self) -> Result<Vec<LeftFuture>, LogError> {
        let names = self.disk.list(&self.path).map_err(LogError::storage("list", &self.path))?;
        let left = names.iter().filter_map(|it| Some((file_name::future_partition(it)?, it)));
        left.map(|(partition, name)| {
            let path = self.path.join(name);
            let topic_id = partition_metadata::read(self.disk.as_ref(), &path)?;
            Ok(LeftFuture { partition, topic_id, disk: Arc::clone(&self.disk), path })
        })
        .collect()
    }

    /// Whether a partition's folder has come here by a move that was not finished.
    pub fn is_half_moved(&self, partition: &TopicPartition) -> bool {
        self.path.join(partition.to_string()).join(MOVING).exists()
    }

    /// Takes such a folder for the partition's: the old one is gone.
    pub fn finish_move(&self, partition: &TopicPartition) -> Result<(), LogError> {
        let dir = self.path.join(partition.to_string());
        let marker = dir.join(MOVING);
        tracing::info!(%partition, dir = %dir.display(), "carries on the end of a move to this log directory");
        self.disk.remove(&marker).map_err(LogError::storage("remove", &marker))
    }

    /// Takes such a folder for one that the partition is still to be moved to: the old one is there.
    pub fn repeat_move(&self, partition: &TopicPartition) -> Result<(), LogError> {
        let dir = self.path.join(partition.to_string());
        let name = file_name::out_of_the_way(&partition.to_string(), file_name::FUTURE);
        self.disk.rename(&dir, &self.path.join(name)).map_err(LogError::storage("rename", &dir))
    }
}
