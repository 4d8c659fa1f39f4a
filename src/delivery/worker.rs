//! Delivers to one sink: reads, posts, remembers how far it came.

use std::time::Duration;

use super::{
    DeliveryRooms,
    metrics::SinkMetrics,
    reader::{Reader, Updates, alerts_partition},
    sink::Sink,
};
use crate::{
    base::{GroupId, Offset},
    group::OffsetToCommit,
    telemetry,
};

/// How long a read waits for an update.
const READ_WAIT: Duration = Duration::from_secs(1);
/// How often a sink that forgets is reminded.
const REMIND_INTERVAL: Duration = Duration::from_mins(1);
/// Between attempts to learn what was delivered.
const RETRY: Duration = Duration::from_secs(1);

pub(super) struct Worker {
    rooms: DeliveryRooms,
    name: String,
    group: GroupId,
    sink: Sink,
    reader: Reader,
    metrics: SinkMetrics,
}

impl Worker {
    pub(super) fn new(rooms: DeliveryRooms, name: &str, sink: Sink, metrics: SinkMetrics) -> Self {
        let max_bytes = rooms.config.log.decompressed_max_bytes;
        Self {
            reader: Reader::new(rooms.replicas.clone(), max_bytes),
            group: GroupId::from(format!("klamm.delivery.{name}").as_str()),
            name: name.to_owned(),
            rooms,
            sink,
            metrics,
        }
    }

    pub(super) async fn run(mut self) {
        self.wait_for_topic().await;
        let delivered = self.delivered().await;
        self.recall(delivered).await;
        let mut reminded_at = telemetry::now();
        self.remind().await;
        loop {
            let updates = self.reader.read(READ_WAIT).await;
            self.metrics.lag.set(self.reader.lag());
            if updates.next > self.reader.next {
                self.deliver(updates).await;
            }
            let now = telemetry::now();
            if now.since(reminded_at) >= REMIND_INTERVAL.as_millis() as u64 {
                reminded_at = now;
                self.remind().await;
            }
        }
    }

    /// Asking for the sink's progress makes `__consumer_offsets`, which a node without alerts can do without.
    async fn wait_for_topic(&self) {
        while self.rooms.replicas.leader(&alerts_partition(), None).is_err() {
            tokio::time::sleep(READ_WAIT).await;
        }
    }

    /// The offset before which everything was delivered.
    async fn delivered(&self) -> Offset {
        loop {
            match self.rooms.groups.committed(&self.group, &alerts_partition()).await {
                Ok(committed) => {
                    let is_of_this = |id| Some(id) == self.reader.topic_id();
                    let committed = committed.filter(|it| it.topic_id.is_none_or(is_of_this));
                    return committed.map_or(Offset(0), |it| it.offset);
                }
                Err(error) => {
                    tracing::warn!(sink = self.name, %error, "read how far alerts were delivered");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Reads what was delivered before, so that the sink knows what fires.
    async fn recall(&mut self, delivered: Offset) {
        while self.reader.next < delivered {
            let read = self.reader.read(READ_WAIT).await;
            if read.next == self.reader.next {
                // The log ends before the progress: it was made again.
                return;
            }
            read.updates.iter().for_each(|it| self.sink.recall(it));
            self.reader.next = read.next;
        }
    }

    /// Posts until the sink has taken the updates, then remembers it.
    async fn deliver(&mut self, read: Updates) {
        let (metrics, reader) = (&self.metrics, &self.reader);
        let failed = || {
            metrics.failures.inc();
            metrics.lag.set(reader.lag());
        };
        self.sink.deliver_all(&self.name, &read.updates, &failed).await;
        self.reader.next = read.next;
        self.metrics.updates.inc_by(read.updates.len() as u64);
        self.metrics.lag.set(self.reader.lag());
        self.remember(read.next).await;
    }

    async fn remember(&self, offset: Offset) {
        let progress = OffsetToCommit {
            topic_partition: alerts_partition(),
            topic_id: self.reader.topic_id(),
            offset,
            leader_epoch: None,
            metadata: "".into(),
        };
        if let Err(error) = self.rooms.groups.commit_offsets(&self.group, vec![progress]).await {
            // After a restart these updates are posted once more.
            tracing::warn!(sink = self.name, %error, "store how far alerts were delivered");
        }
    }

    async fn remind(&mut self) {
        if let Err(error) = self.sink.remind(telemetry::now()).await {
            self.metrics.failures.inc();
            tracing::warn!(sink = self.name, %error, "remind the sink of alerts");
        }
    }
}
