//! What a log needs to know of its topic's configs.

use crate::config::{CleanupPolicy, FlushMode, LogConfig, TopicConfig};

/// The topic configs that the log itself acts on.
#[derive(Clone, Debug, PartialEq)]
pub struct LogSettings {
    pub cleanup_policy: CleanupPolicy,
    pub min_cleanable_dirty_ratio: f64,
    pub min_compaction_lag_ms: i64,
    pub max_compaction_lag_ms: i64,
    pub delete_retention_ms: i64,
    pub retention_ms: i64,
    pub retention_bytes: i64,
    pub segment_bytes: u32,
    /// Of a compacted topic at most `max.compaction.lag.ms`, as in Kafka: the active segment is never cleaned.
    pub segment_ms: i64,
    /// By how much at most a segment rolls earlier, so that logs of one age do not all roll at once.
    pub segment_jitter_ms: i64,
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
        let longest =
            if topic.cleanup_policy.compact { topic.max_compaction_lag_ms } else { i64::MAX };
        Self {
            cleanup_policy: topic.cleanup_policy,
            min_cleanable_dirty_ratio: topic.min_cleanable_dirty_ratio,
            min_compaction_lag_ms: topic.min_compaction_lag_ms,
            max_compaction_lag_ms: topic.max_compaction_lag_ms,
            delete_retention_ms: topic.delete_retention_ms,
            retention_ms: topic.retention_ms,
            retention_bytes: topic.retention_bytes,
            segment_bytes: topic.segment_bytes,
            segment_ms: topic.segment_ms.min(longest),
            segment_jitter_ms: topic.segment_jitter_ms,
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
