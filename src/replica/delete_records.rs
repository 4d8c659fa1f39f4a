//! Deleting records up to an offset (KIP-107): the start of a log rises at once, its files go with retention.
//!
//! Rule: nobody is told that records are deleted before a checkpoint says so, which outlives a crash.

use std::sync::Arc;

use super::{
    Partition, ReplicaError, ReplicaManager,
    hosted::{Hosted, cause},
};
use crate::{
    base::{Offset, TopicPartition},
    log::{LogDir, LogError},
};

/// Up to which offset, excluding it, records are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteUpTo {
    Offset(Offset),
    /// All that is committed.
    HighWatermark,
}

impl ReplicaManager {
    /// Deletes records of partitions that this node leads. Returns the low watermark of each: below it no replica has a
    /// record any more. Writes to disk.
    pub fn delete_records(
        &self,
        asked: &[(TopicPartition, DeleteUpTo)],
    ) -> Vec<Result<Offset, ReplicaError>> {
        let delete = |(key, up_to): &(TopicPartition, DeleteUpTo)| {
            let partition = self.leader(key, None)?;
            partition.delete_records(*up_to).map(|()| partition)
        };
        let deleted: Vec<_> = asked.iter().map(delete).collect();
        // One write for all of a directory's partitions.
        let is_stored = |dir: &&Arc<LogDir>| self.store_log_starts(dir);
        let stored: Vec<_> = self.online_dirs().filter(is_stored).collect();
        let is_remembered = |it: &Arc<Partition>| {
            self.hosted()
                .get(&it.topic_partition)
                .is_some_and(|at| stored.iter().any(|dir| at.lies_in(dir)))
        };
        let answer = |deleted: Result<Arc<Partition>, ReplicaError>| {
            let partition = deleted?;
            let low_watermark = partition.log().log_start_offset();
            is_remembered(&partition).then_some(low_watermark).ok_or(ReplicaError::NotPersisted)
        };
        deleted.into_iter().map(answer).collect()
    }

    /// Writes down where the logs of a directory begin; whether that went well.
    pub(super) fn store_log_starts(&self, dir: &Arc<LogDir>) -> bool {
        let stored = self.try_store_log_starts(dir);
        if let Err(error) = &stored {
            tell_not_stored(dir, error);
        }
        stored.is_ok()
    }

    /// Likewise, for whoever tells of a failure.
    pub(super) fn try_store_log_starts(&self, dir: &Arc<LogDir>) -> Result<(), LogError> {
        let start = |it: &Arc<Hosted>| {
            let partition = &it.partition;
            (partition.topic_partition.clone(), partition.log().start_within_segments())
        };
        let starts = || {
            // Those first that are on their way here: what is on its way may have come meanwhile.
            let coming = self.moves.to(dir);
            let is_here = |it: &&Arc<Hosted>| {
                it.lies_in(dir) || coming.iter().any(|at| Arc::ptr_eq(&at.partition, &it.partition))
            };
            self.hosted().values().filter(is_here).map(start).collect()
        };
        dir.store_log_starts(starts)
    }
}

fn tell_not_stored(dir: &LogDir, error: &LogError) {
    let cause = cause(error);
    tracing::warn!(dir = %dir.path.display(), %error, cause, "records that were deleted on request may be back after a crash");
}

impl Partition {
    /// Raises the log's start, as the leader.
    fn delete_records(&self, up_to: DeleteUpTo) -> Result<(), ReplicaError> {
        let high_watermark = self.high_watermark();
        let offset = match up_to {
            DeleteUpTo::Offset(offset) => offset,
            DeleteUpTo::HighWatermark => high_watermark,
        };
        if offset > high_watermark {
            let log = self.log();
            let (log_start, log_end) = (log.log_start_offset(), high_watermark);
            return Err(LogError::OffsetOutOfRange { asked: offset, log_start, log_end }.into());
        }
        Ok(self.log().raise_start(offset)?)
    }
}
