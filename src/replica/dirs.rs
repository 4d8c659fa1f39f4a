//! The log directories of this node, of which any but the first may fail (KIP-112).
//!
//! Rule: the first one holds the metadata log, and the node goes as it goes. What lies in another one that is offline is not
//! served, and made nowhere else: its records are there, perhaps.

use std::{collections::HashMap, sync::Arc};

use super::{ReplicaError, ReplicaManager, hosted::cause};
use crate::{
    base::TopicPartition,
    config::Config,
    log::{LogDir, LogError},
};

/// Locks the directories. One that cannot be used is offline from the start.
///
/// # Errors
///
/// The first directory cannot be used, or one is in use by another process or belongs to another node.
pub(super) fn open(config: &Config) -> Result<Vec<Arc<LogDir>>, ReplicaError> {
    let mut dirs = Vec::new();
    for path in &config.log.dirs {
        let dir = match LogDir::open(path, config.node.id) {
            Err(error @ LogError::Storage { .. }) if !dirs.is_empty() => {
                LogDir::unusable(path, &error)
            }
            other => other?,
        };
        dirs.push(Arc::new(dir));
    }
    Ok(dirs)
}

impl ReplicaManager {
    /// Ties the log directories to a cluster; to be called before the first [`ReplicaManager::apply`].
    ///
    /// # Errors
    ///
    /// [`LogError::DirectoryRefused`] if one belongs to another cluster; any other failure of the first one.
    pub fn claim(&self, cluster_id: &str) -> Result<(), ReplicaError> {
        for (at, dir) in self.dirs.iter().enumerate() {
            match dir.claim(cluster_id) {
                Err(error @ LogError::Storage { .. }) if at > 0 => dir.health.take_offline(&error),
                other => other?,
            }
        }
        Ok(())
    }

    /// Waits until the first log directory is offline, which this node cannot do without.
    pub async fn first_dir_offline(&self) {
        match self.dirs.first() {
            Some(dir) => dir.health.went_offline().await,
            None => std::future::pending().await,
        }
    }

    /// Whether this node has the partition, and cannot serve it: its log could not be opened, or its directory is offline.
    pub fn is_offline(&self, partition: &TopicPartition) -> bool {
        match self.find(partition) {
            Some(partition) => !partition.log().is_online(),
            None => self.could_not_open(partition),
        }
    }

    /// Whether [`ReplicaManager::is_offline`] is true of any partition, perhaps.
    pub fn may_have_offline(&self) -> bool {
        self.has_offline() || self.online_dirs().count() < self.dirs.len()
    }

    pub(super) fn online_dirs(&self) -> impl Iterator<Item = &Arc<LogDir>> {
        self.dirs.iter().filter(|it| it.health.is_online())
    }

    /// Partitions found in the directories that are online, with the directory. Not all of them may have been read.
    pub(super) fn look_for_partitions(&self) -> Looked {
        let mut looked = Looked { found: HashMap::new(), is_all: true };
        for (at, dir) in self.dirs.iter().enumerate() {
            if !dir.health.is_online() {
                looked.is_all = false;
                continue;
            }
            match dir.partitions() {
                Ok(partitions) => {
                    for it in partitions {
                        looked.found.entry(it).or_default().push(at);
                    }
                }
                Err(error) => {
                    looked.is_all = false;
                    let cause = cause(&error);
                    tracing::error!(%error, cause, "could not read a log directory: what is not found elsewhere waits");
                }
            }
        }
        looked
    }
}

impl ReplicaManager {
    /// The directory that a partition lies in, of those with a folder of its name; what an interrupted move has left there is put
    /// right. `None` where that cannot be told.
    pub(super) fn settle_place(
        &self,
        partition: &TopicPartition,
        found: &[usize],
        looked_at_all: bool,
    ) -> Option<usize> {
        let dir = |at: &usize| self.dirs.get(*at);
        let is_half = |at: &usize| dir(at).is_some_and(|it| it.is_half_moved(partition));
        let (half, whole): (Vec<usize>, Vec<usize>) = found.iter().partition(|at| is_half(at));
        if let Some(&at) = whole.last() {
            half.iter().filter_map(dir).for_each(|it| tell(partition, it.repeat_move(partition)));
            return Some(at);
        }
        // What was left is gone, if it lies nowhere else.
        let at = half.first().filter(|_| looked_at_all)?;
        tell(partition, dir(at)?.finish_move(partition));
        Some(*at)
    }
}

/// The next start tries again.
fn tell(partition: &TopicPartition, settled: Result<(), LogError>) {
    if let Err(error) = settled {
        let cause = cause(&error);
        tracing::warn!(%partition, %error, cause, "could not put right what an interrupted move has left");
    }
}

/// What is in the log directories.
pub(super) struct Looked {
    /// Each with the places of its directories in `log.dirs`: one, but for a move that was interrupted.
    pub(super) found: HashMap<TopicPartition, Vec<usize>>,
    pub(super) is_all: bool,
}
