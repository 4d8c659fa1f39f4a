//! A record's way in. Without a hook: straight to the replica, with the bytes as received. With one: through the
//! partition's lane.
//!
//! Rule: what a batch becomes is decided once and written before it is acted on; a retry follows what is written.

mod admission;
mod dead_letter;
mod derived;
mod edit;
mod forward;
mod hooks;
mod lane;
mod metrics;
mod order;
mod raise;
mod route;
mod shared;
mod submission;

use std::{collections::HashMap, future::Future, sync::Arc};

use futures_util::future::{Either, ready};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

pub use submission::{ProduceError, RefusedRecord, Stored, Submission};

use self::{
    admission::admit,
    edit::{Edit, filtered},
    lane::{Job, LANE_BATCHES_MAX, Lane},
    metrics::ProduceMetrics,
    order::AppendOrder,
    shared::{Shared, codec},
};
use crate::{
    base::TopicPartition,
    config::Config,
    coordinator::AlertIntake,
    log::{Appended, ProducerCheck},
    plugin::PluginHost,
    replica::{Partition, ReplicaManager},
    telemetry::{self, Metrics},
    wire::record_batch::Batch,
};

/// The only way in for clients' records.
pub struct Produce {
    shared: Arc<Shared>,
    /// Lanes that have begun. A partition that had hooks keeps its lane: its producers' routes may be unfinished.
    lanes: Mutex<HashMap<TopicPartition, mpsc::Sender<Job>>>,
}

/// What a submission became at once.
enum Begun {
    /// Stored by this call; its commit is still to be awaited.
    Stored(Arc<Partition>, Appended),
    InLane(oneshot::Receiver<Result<Stored, ProduceError>>),
}

impl Produce {
    pub fn new(
        config: &Config,
        replicas: Arc<ReplicaManager>,
        plugins: Arc<PluginHost>,
        intake: AlertIntake,
        metrics: &Metrics,
    ) -> Self {
        let shared = Shared {
            replicas,
            plugins,
            intake,
            order: AppendOrder::default(),
            metrics: ProduceMetrics::new(metrics),
            decompressed_max_bytes: config.log.decompressed_max_bytes,
        };
        Self { shared: Arc::new(shared), lanes: Mutex::default() }
    }

    /// Starts the lanes of partitions whose producers' routes may be unfinished, hooks or none; called once the logs are open.
    pub fn resume(&self) {
        for partition in self.shared.replicas.partitions() {
            if !partition.log().producers_with_routes().is_empty() {
                let id = &partition.topic_partition;
                self.lanes.lock().entry(id.clone()).or_insert_with(|| self.start_lane(id));
            }
        }
    }

    /// Takes a client's batch. The call itself fixes its place in its partition's order; the future that it returns
    /// completes when the batch is committed as `acks` asks.
    pub fn submit(
        &self,
        submission: Submission,
    ) -> impl Future<Output = Result<Stored, ProduceError>> + Send + use<> {
        let (acks, timeout) = (submission.acks, submission.timeout);
        match self.begin(submission) {
            Err(error) => Either::Left(ready(Err(error))),
            Ok(begun) => Either::Right(async move {
                match begun {
                    Begun::InLane(answer) => answer.await.unwrap_or(Err(ProduceError::Busy)),
                    Begun::Stored(partition, appended) => {
                        partition.committed(appended.last_offset, acks, timeout).await?;
                        Ok(Stored::from(&appended))
                    }
                }
            }),
        }
    }

    fn begin(&self, submission: Submission) -> Result<Begun, ProduceError> {
        let partition = self.shared.leader(&submission.topic_partition)?;
        if partition.config().has_hooks() || self.has_lane(&submission.topic_partition) {
            return self.enter_lane(submission);
        }
        let batch = admit(submission.records.clone(), &partition.config(), telemetry::now())?;
        let header = batch.header.clone();
        let batch = self.in_the_topics_codec(batch, &partition)?;
        let appended = partition.append(vec![batch], submission.acks)?;
        if appended.duplicate && was_routed(&partition, &header) {
            return self.enter_lane(submission);
        }
        Ok(Begun::Stored(partition, appended))
    }

    /// `compression.type` other than the batch's own codec costs decoding it; otherwise it stays as received.
    fn in_the_topics_codec(
        &self,
        batch: Batch,
        partition: &Partition,
    ) -> Result<Batch, ProduceError> {
        let codec = codec(&batch, &partition.config())?;
        if codec == batch.header.attributes.compression()? {
            return Ok(batch);
        }
        let decoded = batch.decode(self.shared.decompressed_max_bytes)?;
        Ok(filtered(&decoded, &Edit::none(decoded.len()), codec))
    }

    fn has_lane(&self, topic_partition: &TopicPartition) -> bool {
        self.lanes.lock().contains_key(topic_partition)
    }

    fn enter_lane(&self, submission: Submission) -> Result<Begun, ProduceError> {
        let (reply, answer) = oneshot::channel();
        let mut lanes = self.lanes.lock();
        let lane = lanes
            .entry(submission.topic_partition.clone())
            .and_modify(|lane| {
                if lane.is_closed() {
                    *lane = self.start_lane(&submission.topic_partition);
                }
            })
            .or_insert_with(|| self.start_lane(&submission.topic_partition));
        match lane.try_send((submission, reply)) {
            Ok(()) => Ok(Begun::InLane(answer)),
            Err(_) => Err(ProduceError::Busy),
        }
    }

    fn start_lane(&self, topic_partition: &TopicPartition) -> mpsc::Sender<Job> {
        let (sender, jobs) = mpsc::channel(LANE_BATCHES_MAX);
        tokio::spawn(Lane::new(self.shared.clone(), topic_partition.clone()).run(jobs));
        sender
    }

    /// Ends the lanes of partitions that are gone; called after a topic's deletion.
    pub fn forget_removed(&self) {
        let replicas = &self.shared.replicas;
        self.lanes.lock().retain(|partition, _| replicas.topic_id(partition).is_some());
    }
}

fn was_routed(partition: &Partition, header: &crate::wire::record_batch::BatchHeader) -> bool {
    let check = partition.log().check_producer(header);
    matches!(check, Ok(ProducerCheck::Duplicate(stored)) if stored.route.is_some())
}

#[cfg(test)]
mod tests;
