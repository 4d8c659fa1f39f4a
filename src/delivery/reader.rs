//! Reads committed updates of `__klamm_alerts`, waiting for more as a consumer does.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use crate::{
    alert::AlertRecord,
    base::{Offset, TopicId, TopicPartition},
    controller::ALERTS_TOPIC,
    replica::{FetchParams, FetchPartition, FetchedData, Isolation, ReplicaManager},
    wire::record_batch::split,
};

/// Bytes of one read.
const READ_BYTES: usize = 1024 * 1024;

/// The partition that all alerts are in.
pub(super) fn alerts_partition() -> TopicPartition {
    TopicPartition::new(ALERTS_TOPIC, 0)
}

/// A position in the log of alerts.
pub(super) struct Reader {
    replicas: Arc<ReplicaManager>,
    decompressed_max_bytes: usize,
    pub(super) next: Offset,
}

/// Updates in order, and where the log goes on behind them.
pub(super) struct Updates {
    pub(super) updates: Vec<AlertRecord>,
    pub(super) next: Offset,
}

impl Reader {
    pub(super) fn new(replicas: Arc<ReplicaManager>, decompressed_max_bytes: usize) -> Self {
        Self { replicas, decompressed_max_bytes, next: Offset(0) }
    }

    /// Which `__klamm_alerts` it is; `None` when there is none (yet).
    pub(super) fn topic_id(&self) -> Option<TopicId> {
        self.replicas.leader(&alerts_partition(), None).ok().map(|it| it.topic_id)
    }

    /// Goes on at the log's start where there is nothing to go on at: what lay before it is gone, or the topic was made
    /// again.
    fn settle(&mut self) {
        let Ok(partition) = self.replicas.leader(&alerts_partition(), None) else { return };
        let log = partition.log();
        if self.next < log.log_start_offset() || self.next > log.log_end_offset() {
            self.next = log.log_start_offset();
        }
    }

    /// The next updates; empty after `wait`, or when there is no such topic (yet).
    pub(super) async fn read(&mut self, wait: Duration) -> Updates {
        self.settle();
        let partition = FetchPartition {
            topic_partition: alerts_partition(),
            topic_id: None,
            fetch_offset: self.next,
            max_bytes: READ_BYTES,
            current_leader_epoch: None,
            last_fetched_epoch: None,
        };
        let params = FetchParams {
            max_wait: wait,
            min_bytes: 1,
            max_bytes: READ_BYTES,
            isolation: Isolation::ReadCommitted,
            partitions: vec![partition],
            hurry: CancellationToken::new(),
        };
        let fetched = self.replicas.fetch(params).await.pop().map(|it| it.result);
        let records = match fetched {
            Some(Ok(FetchedData { records: None, .. })) => Some(Bytes::new()),
            Some(Ok(data)) => read(data, self.next).await,
            _ => None,
        };
        if let Some(records) = records {
            return self.updates(records);
        }
        // Without a topic the fetch returns at once.
        tokio::time::sleep(wait).await;
        Updates { updates: Vec::new(), next: self.next }
    }

    /// Offsets from here to the committed end.
    pub(super) fn lag(&self) -> i64 {
        let end = self.replicas.leader(&alerts_partition(), None).map(|it| it.high_watermark());
        end.map_or(0, |end| (end.0 - self.next.0).max(0))
    }

    fn updates(&self, records: Bytes) -> Updates {
        let mut found = Updates { updates: Vec::new(), next: self.next };
        let batches = split(records).unwrap_or_default();
        for batch in batches {
            found.next = batch.header.last_offset() + 1;
            if batch.header.attributes.is_control() {
                continue;
            }
            let Ok(decoded) = batch.decode(self.decompressed_max_bytes) else {
                tracing::warn!("a batch of __klamm_alerts cannot be read, and is passed over");
                continue;
            };
            let values = decoded.records().filter_map(|it| it.value());
            found.updates.extend(values.filter_map(|it| serde_json::from_slice(it).ok()));
        }
        found
    }
}

/// What was found, in memory, up to the first batch that is damaged.
async fn read(found: FetchedData, from: Offset) -> Option<Bytes> {
    let log = Arc::clone(found.partition.log());
    let ceiling = found.last_stable_offset;
    let read = tokio::task::spawn_blocking(move || log.read(from, ceiling, READ_BYTES, true));
    let fetched = read.await.ok()?.ok()?;
    Some(fetched.records).filter(|it| !it.is_empty())
}
