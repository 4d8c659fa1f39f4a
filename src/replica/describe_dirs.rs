//! What the log directories of this node hold, for those who look after it.

use std::{path::PathBuf, sync::Arc};

use super::{Partition, ReplicaManager, hosted::cause, moves::Move};
use crate::{
    base::TopicPartition,
    log::{LogDir, Space},
};

/// A log directory.
#[derive(Clone, Debug)]
pub struct DescribedDir {
    /// Absolute.
    pub path: PathBuf,
    /// `None` for one that is offline.
    pub space: Option<Space>,
    /// What is in it, sorted.
    pub logs: Vec<DescribedLog>,
}

/// A partition's log in a log directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedLog {
    pub partition: TopicPartition,
    pub size_bytes: u64,
    /// Records by which one that is on its way here is behind.
    pub offset_lag: i64,
    /// It is on its way here, and another directory has the partition until it has come.
    pub is_future: bool,
}

impl ReplicaManager {
    /// Describes every directory. Asks the file systems.
    pub fn describe_dirs(&self) -> Vec<DescribedDir> {
        self.dirs.iter().map(|it| self.describe_dir(it)).collect()
    }

    fn describe_dir(&self, dir: &Arc<LogDir>) -> DescribedDir {
        let hosted = self.hosted();
        let here = hosted.values().filter(|it| it.lies_in(dir));
        let mut logs: Vec<_> = here.map(|it| present(&it.partition)).collect();
        logs.extend(self.moves.to(dir).iter().map(|it| coming(it)));
        logs.sort_by(|a, b| a.partition.cmp(&b.partition));
        DescribedDir {
            path: std::path::absolute(&dir.path).unwrap_or_else(|_| dir.path.clone()),
            space: space(dir),
            logs,
        }
    }
}

fn present(partition: &Partition) -> DescribedLog {
    DescribedLog {
        partition: partition.topic_partition.clone(),
        size_bytes: partition.log().size_bytes(),
        offset_lag: 0,
        is_future: false,
    }
}

fn coming(it: &Move) -> DescribedLog {
    let behind = it.partition.log().log_end_offset() - it.progress.end_offset();
    DescribedLog {
        partition: it.partition.topic_partition.clone(),
        size_bytes: it.progress.bytes(),
        offset_lag: behind.max(0),
        is_future: true,
    }
}

fn space(dir: &LogDir) -> Option<Space> {
    if !dir.health.is_online() {
        return None;
    }
    let space = dir.space();
    if let Err(error) = &space {
        let cause = cause(error);
        tracing::warn!(dir = %dir.path.display(), %error, cause, "could not ask a file system for its room");
    }
    space.ok()
}
