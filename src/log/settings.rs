//! What a log needs to know of its topic's configs.

use crate::config::{CleanupPolicy, FlushMode, LogConfig, TopicConfig};

/// The topic configs that the log itself acts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    pub cleanup_policy: CleanupPolicy,
    pub retention_ms: i64,
    pub retention_bytes: i64,
    pub segment_bytes: u32,
    pub segment_ms: i64,
    pub segment_index_bytes: u32,
    pub index_interval_bytes: u32,
    pub file_delete_delay_ms: u64,
    /// Records that may be acknowledged before an fsync; 1 where each is acknowledged after one (`klamm.flush.mode=ack`).
    pub flush_messages: i64,
    pub flush_ms: i64,
    pub preallocate: bool,
    /// `producer.id.expiration.ms` of the node.
    pub producer_id_expiration_ms: i64,
    /// `klamm.decompressed.max.bytes` of the node: a timestamp lookup looks into one batch.
    pub decompressed_max_bytes: usize,
}

impl LogSettings {
    pub fn new(topic: &TopicConfig, node: &LogConfig) -> Self {
        Self {
            cleanup_policy: topic.cleanup_policy,
            retention_ms: topic.retention_ms,
            retention_bytes: topic.retention_bytes,
            segment_bytes: topic.segment_bytes,
            segment_ms: topic.segment_ms,
            segment_index_bytes: topic.segment_index_bytes,
            index_interval_bytes: topic.index_interval_bytes,
            file_delete_delay_ms: topic.file_delete_delay_ms,
            flush_messages: match topic.flush_mode {
                FlushMode::Os => topic.flush_messages,
                FlushMode::Ack => 1,
            },
            flush_ms: topic.flush_ms,
            preallocate: topic.preallocate,
            producer_id_expiration_ms: node.producer_id_expiration_ms,
            decompressed_max_bytes: node.decompressed_max_bytes,
        }
    }

    /// What a new segment takes from the disk at once.
    pub(super) fn preallocated_bytes(&self) -> Option<u64> {
        self.preallocate.then_some(u64::from(self.segment_bytes))
    }
}
