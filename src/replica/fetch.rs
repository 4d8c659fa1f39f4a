//! Reading partitions, with the wait for more (KIP-74, long poll).

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{Partition, ReplicaError};
use crate::base::{LeaderEpoch, Offset, TopicPartition};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
}

/// One partition to read.
#[derive(Clone, Debug)]
pub struct FetchPartition {
    pub topic_partition: TopicPartition,
    pub fetch_offset: Offset,
    pub max_bytes: usize,
    /// `None` when the client does not know it.
    pub current_leader_epoch: Option<LeaderEpoch>,
}

/// One fetch over some partitions.
#[derive(Clone, Debug)]
pub struct FetchParams {
    pub max_wait: Duration,
    pub min_bytes: usize,
    pub max_bytes: usize,
    pub isolation: Isolation,
    pub partitions: Vec<FetchPartition>,
}

/// One partition's answer, in the order of the request.
pub struct FetchedPartition {
    pub topic_partition: TopicPartition,
    pub result: Result<FetchedData, ReplicaError>,
}

pub struct FetchedData {
    pub partition: Arc<Partition>,
    pub high_watermark: Offset,
    pub last_stable_offset: Offset,
    pub log_start_offset: Offset,
    /// Whole batches as stored; empty when there is nothing new.
    pub records: Bytes,
}
