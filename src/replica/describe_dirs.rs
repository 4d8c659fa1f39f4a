//! What the log directories of this node hold, for those who look after it.

use std::{path::PathBuf, sync::Arc};

use super::{ReplicaManager, hosted::cause};
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
    /// Partitions in it, sorted, and the bytes of each.
    pub logs: Vec<(TopicPartition, u64)>,
}

impl ReplicaManager {
    /// Describes every directory. Asks the file systems.
    pub fn describe_dirs(&self) -> Vec<DescribedDir> {
        self.dirs.iter().map(|it| self.describe_dir(it)).collect()
    }

    fn describe_dir(&self, dir: &Arc<LogDir>) -> DescribedDir {
        let hosted = self.hosted();
        let here = hosted.iter().filter(|(_, it)| Arc::ptr_eq(&it.dir, dir));
        DescribedDir {
            path: std::path::absolute(&dir.path).unwrap_or_else(|_| dir.path.clone()),
            space: space(dir),
            logs: here.map(|(key, it)| (key.clone(), it.partition.log().size_bytes())).collect(),
        }
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
