//! What a client asks to store, and what it is told.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use crate::{
    base::{Offset, TimestampMs, TopicId, TopicPartition},
    replica::{Acks, ReplicaError},
    wire::record_batch::BatchError,
};

/// One partition's part of a produce request.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The partition that the client chose.
    pub topic_partition: TopicPartition,
    /// Of the topic, if the client told it: one that was made anew under the name is another.
    pub topic_id: Option<TopicId>,
    /// One record batch, as received.
    pub records: Bytes,
    pub acks: Acks,
    /// How long the answer may take once the records are stored.
    pub timeout: Duration,
    /// `client.id`; empty when there is none.
    pub client_id: Arc<str>,
    /// Producers without an id are told apart by connection.
    pub connection_id: u64,
}

/// Where the batch is, or its route record, or the empty control batch that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub base_offset: Offset,
    /// `None` for `CreateTime`.
    pub log_append_time: Option<TimestampMs>,
    pub log_start_offset: Offset,
}

/// A record that refuses its batch (KIP-467).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRecord {
    /// Index in the batch.
    pub index: i32,
    pub reason: String,
}

/// Why nothing was stored, or why it is not known to be stored everywhere.
#[derive(Debug, thiserror::Error)]
pub enum ProduceError {
    /// The bytes are no good batch.
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error("a partition's data must be exactly one batch")]
    NotOneBatch,
    /// The batch is none that a client may send: control, transactional, an id of ours.
    #[error("{0}")]
    InvalidRequest(&'static str),
    #[error("transactions are not served")]
    Transactional,
    #[error("the batch has {size} bytes, max.message.bytes is {max}")]
    TooLarge { size: usize, max: usize },
    /// Its records and headers are so many and so small that they would cost many times their bytes.
    #[error("the batch has {count} records and headers, {max} are allowed on a topic with hooks")]
    TooManyRecords { count: usize, max: usize },
    /// Records' timestamps are too far from the broker's clock. A compressed batch's are not named.
    #[error("timestamps are out of range, such as {timestamp}")]
    InvalidTimestamp { timestamp: i64, records: Vec<RefusedRecord> },
    /// A plugin decided against records, or `guard` found them elsewhere than they belong.
    #[error("{message}")]
    Refused { message: String, records: Vec<RefusedRecord> },
    /// A plugin failed, and its `on-failure` is `reject`: nothing was stored, the producer tries again.
    #[error("{0}")]
    HookFailed(String),
    /// A batch of the producer before this one is stored and its parts are not; that one is to be sent again first.
    #[error("an earlier batch of this producer is not stored everywhere yet")]
    Unfinished,
    /// The batch is stored, and its parts are not all: the same batch, sent again, finishes them.
    #[error("stored, but not everywhere: {0}")]
    NotEverywhere(String),
    /// The lane is full or has ended; nothing was stored.
    #[error("too many batches wait for this partition")]
    Busy,
    #[error(transparent)]
    Replica(#[from] ReplicaError),
}
