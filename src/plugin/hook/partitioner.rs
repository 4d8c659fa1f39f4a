//! The partitioner hook: which partition each record of a batch belongs to.

use std::sync::Arc;

use crate::{base::TopicName, wire::record_batch::DecodedBatch};

/// A batch to place.
#[derive(Clone, Debug)]
pub struct PartitionerInput {
    pub topic: TopicName,
    /// At least 1.
    pub partitions: u32,
    pub batch: Arc<DecodedBatch>,
    /// Number of the first record; see `wit/partitioner.wit`.
    pub sequence: u32,
    pub seed: u32,
}

/// The plugin's answer, after its `on-failure` setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartitionerVerdict {
    /// One partition for each record, each in range.
    Targets(Vec<u32>),
    /// It failed, and the client's choice stands (`on-failure = "client"`).
    Client,
    /// It failed, and nothing may be stored (`on-failure = "reject"`).
    Failed(String),
}
