//! One partition of this node.

use std::{sync::Arc, time::Duration};

use super::ReplicaError;
use crate::{
    base::{LeaderEpoch, Offset, TopicId, TopicPartition},
    config::TopicConfig,
    log::{Appended, Log},
    wire::record_batch::Batch,
};

/// What a producer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// 0: no answer.
    None,
    /// 1: stored by the leader.
    Leader,
    /// −1: stored by every replica in the ISR.
    All,
}

/// A partition that this node has a replica of.
pub struct Partition {
    pub topic_partition: TopicPartition,
    pub topic_id: TopicId,
    log: Arc<Log>,
}

impl Partition {
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    pub fn leader_epoch(&self) -> LeaderEpoch {
        todo!()
    }

    /// The effective topic configs, as of the newest image.
    pub fn config(&self) -> Arc<TopicConfig> {
        todo!()
    }

    /// Offsets below it are committed: consumers see no others.
    pub fn high_watermark(&self) -> Offset {
        todo!()
    }

    /// Equal to the high watermark while no transaction is open.
    pub fn last_stable_offset(&self) -> Offset {
        self.high_watermark()
    }

    /// Appends validated batches as the leader, under this partition's epoch and timestamp type. It does not wait:
    /// the order of two appends is that of two calls. Wakes delayed fetches.
    ///
    /// With [`Acks::All`] it refuses when fewer replicas than `min.insync.replicas` are in sync.
    pub fn append(&self, batches: Vec<Batch>, acks: Acks) -> Result<Appended, ReplicaError> {
        let _ = (batches, acks);
        todo!()
    }

    /// Waits until everything up to and including `last_offset` is committed as `acks` asks.
    ///
    /// # Errors
    ///
    /// [`ReplicaError::TimedOut`]; [`ReplicaError::NotLeader`] when leadership is lost.
    pub async fn committed(
        &self,
        last_offset: Offset,
        acks: Acks,
        timeout: Duration,
    ) -> Result<(), ReplicaError> {
        let _ = (last_offset, acks, timeout);
        todo!()
    }

    /// Bytes appended a second, over the last minute or so.
    pub fn byte_rate(&self) -> f64 {
        todo!()
    }
}
