//! What a log remembers of each producer: its epoch and newest five batches (KIP-98), and of batches that were
//! routed also where their records went (design part 4).

use bytes::Bytes;

use crate::base::{Offset, ProducerEpoch, ProducerId, TimestampMs};

/// A batch of a producer that the log holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBatch {
    pub base_sequence: i32,
    pub last_sequence: i32,
    pub base_offset: Offset,
    pub last_offset: Offset,
    pub timestamp: TimestampMs,
    /// The value of its route record, for a batch that was routed.
    pub route: Option<Bytes>,
}

/// One of a producer's routed batches, perhaps unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRoute {
    pub producer_epoch: ProducerEpoch,
    pub batch: StoredBatch,
}

/// What the log says of a batch before it is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProducerCheck {
    /// It follows what is stored, or has no producer id.
    New,
    /// It is stored already.
    Duplicate(StoredBatch),
}

/// Producer ids that `route` derives have bit 62 set; they are never allocated and refused from clients. Their
/// sequences only rise, compared circularly: a part is not followed by the next sequence, as its neighbours are elsewhere.
pub fn is_derived(producer_id: ProducerId) -> bool {
    producer_id.0 & (1 << 62) != 0
}
