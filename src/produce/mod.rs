//! A record's way in. Without a hook: straight to the replica, with the bytes as received. With one: through the
//! partition's lane.
//!
//! Rule: what a batch becomes is decided once and written before it is acted on; a retry follows what is written.

mod admission;
mod dead_letter;
mod decoded_budget;
mod derived;
mod edit;
mod expansion;
mod forward;
mod hooks;
mod inspection;
mod keys;
mod lane;
mod long_work;
mod metrics;
mod order;
mod raise;
mod route;
mod shared;
mod soon;
mod submission;
mod timestamps;

use std::{collections::HashMap, sync::Arc};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

pub use soon::Soon;
pub use submission::{ProduceError, RefusedRecord, Stored, Submission};

use self::{
    admission::{admit, fits},
    decoded_budget::DecodedBudget,
    expansion::Expansion,
    inspection::Inspection,
    lane::{Job, LANE_BATCHES_MAX, Lane},
    metrics::ProduceMetrics,
    order::AppendOrder,
    shared::Shared,
};
use crate::{
    base::{ProducerId, TopicId, TopicPartition},
    config::Config,
    coordinator::{AlertIntake, DeadLetterTopics},
    log::Appended,
    plugin::PluginHost,
    replica::{Partition, ReplicaError, ReplicaManager},
    telemetry::{self, Metrics},
};

/// The only way in for clients' records.
pub struct Produce {
    shared: Arc<Shared>,
    /// Lanes that have begun. A partition that had hooks keeps its lane: its producers' routes may be unfinished. One without
    /// has a lane while large batches wait there for room to be expanded: who comes behind them keeps its place.
    lanes: Mutex<HashMap<TopicPartition, LaneHandle>>,
}

/// Ends its lane when it is dropped, once that has taken what waits.
struct LaneHandle {
    topic_id: TopicId,
    jobs: mpsc::Sender<Job>,
    /// It was begun for a batch that waits for room: it ends once that and what came behind it are stored.
    is_for_room: bool,
    /// Shared with each job.
    on_their_way: Arc<()>,
}

impl LaneHandle {
    /// Whether all that it was begun for is done.
    fn is_over(&self) -> bool {
        self.is_for_room && Arc::strong_count(&self.on_their_way) == 1
    }
}

/// What a submission became at once.
enum Begun {
    /// Stored by this call; its commit is still to be awaited.
    Stored(Arc<Partition>, Appended),
    InLane(oneshot::Receiver<Result<Stored, ProduceError>>),
}

impl Produce {
    /// Without `dead_letter_topics`, dead letters go to topics that exist, and to no others.
    pub fn new(
        config: &Config,
        replicas: Arc<ReplicaManager>,
        plugins: Arc<PluginHost>,
        intake: AlertIntake,
        dead_letter_topics: Option<DeadLetterTopics>,
        metrics: &Metrics,
    ) -> Self {
        let shared = Shared {
            replicas,
            plugins,
            intake,
            dead_letter_topics,
            order: AppendOrder::default(),
            metrics: ProduceMetrics::new(metrics),
            decoded: DecodedBudget::new(config.log.decompressed_max_bytes),
            expansion: Expansion::new(config.log.decompressed_max_bytes),
            answer_bytes_max: config.node.fetch_max_bytes,
        };
        Self { shared: Arc::new(shared), lanes: Mutex::default() }
    }

    /// Starts the lanes of partitions whose producers' routes may be unfinished, hooks or none; called once the logs are open.
    pub fn resume(&self) {
        for partition in self.shared.replicas.partitions() {
            if !partition.log().unfinished_routes().is_empty() {
                let id = &partition.topic_partition;
                let start = || self.start_lane(id, partition.topic_id);
                self.lanes.lock().entry(id.clone()).or_insert_with(start);
            }
        }
    }

    /// Takes a client's batch. The call itself fixes its place in its partition's order; what it returns is known when the
    /// batch is committed as `acks` asks.
    pub fn submit(&self, submission: Submission) -> Soon<Result<Stored, ProduceError>> {
        let (acks, timeout) = (submission.acks, submission.timeout);
        match self.begin(submission) {
            Err(error) => Soon::Now(Err(error)),
            Ok(Begun::InLane(answer)) => {
                Soon::later(async { answer.await.unwrap_or(Err(ProduceError::Busy)) })
            }
            Ok(Begun::Stored(partition, appended)) => {
                let (last, stored) = (appended.last_offset, Stored::from(&appended));
                if partition.is_committed(last, acks) {
                    return Soon::Now(Ok(stored));
                }
                Soon::later(async move {
                    partition.committed(last, acks, timeout).await?;
                    Ok(stored)
                })
            }
        }
    }

    fn begin(&self, submission: Submission) -> Result<Begun, ProduceError> {
        let partition = self.shared.leader(&submission.topic_partition)?;
        if submission.topic_id.is_some_and(|it| it != partition.topic_id) {
            return Err(ReplicaError::UnknownTopicId.into());
        }
        let config = partition.config();
        let has_hooks = config.has_hooks();
        if has_hooks || self.has_lane(&submission.topic_partition) {
            return self.enter_lane(submission, partition.topic_id, !has_hooks);
        }
        let batch = admit(submission.records.clone())?;
        let now = telemetry::now();
        fits(&batch, &config, now)?;
        let producer_id = batch.header.producer_id;
        let id = &submission.topic_partition;
        let inspection = Inspection { partition: id, config: &config, now };
        let Some(batch) = self.shared.inspect(batch, inspection).now_or_never() else {
            return self.enter_lane(submission, partition.topic_id, true);
        };
        let appended = partition.append(vec![batch?], submission.acks)?;
        if appended.duplicate && is_unfinished(&partition, producer_id, &appended) {
            return self.enter_lane(submission, partition.topic_id, false);
        }
        Ok(Begun::Stored(partition, appended))
    }

    fn has_lane(&self, topic_partition: &TopicPartition) -> bool {
        let mut lanes = self.lanes.lock();
        let is_over = lanes.get(topic_partition).is_some_and(LaneHandle::is_over);
        if is_over {
            lanes.remove(topic_partition);
        }
        lanes.contains_key(topic_partition)
    }

    fn enter_lane(
        &self,
        submission: Submission,
        topic_id: TopicId,
        is_for_room: bool,
    ) -> Result<Begun, ProduceError> {
        let (reply, answer) = oneshot::channel();
        let mut lanes = self.lanes.lock();
        let start =
            || LaneHandle { is_for_room, ..self.start_lane(&submission.topic_partition, topic_id) };
        let lane = lanes.entry(submission.topic_partition.clone()).or_insert_with(start);
        if lane.jobs.is_closed() || lane.topic_id != topic_id {
            *lane = start();
        }
        lane.is_for_room &= is_for_room;
        let on_its_way = Arc::clone(&lane.on_their_way);
        match lane.jobs.try_send(Job { submission, reply, on_its_way }) {
            Ok(()) => Ok(Begun::InLane(answer)),
            Err(_) => Err(ProduceError::Busy),
        }
    }

    fn start_lane(&self, topic_partition: &TopicPartition, topic_id: TopicId) -> LaneHandle {
        let (jobs, waiting) = mpsc::channel(LANE_BATCHES_MAX);
        let lane = Lane::new(self.shared.clone(), topic_partition.clone(), topic_id);
        tokio::spawn(lane.run(waiting));
        LaneHandle { topic_id, jobs, is_for_room: false, on_their_way: Arc::default() }
    }

    /// Ends the lanes of partitions that are gone; called after a topic's deletion.
    pub fn forget_removed(&self) {
        let replicas = &self.shared.replicas;
        self.lanes.lock().retain(|id, lane| replicas.topic_id(id) == Some(lane.topic_id));
    }
}

/// Whether a duplicate is a route record that is to be followed first.
fn is_unfinished(
    partition: &Partition,
    producer_id: Option<ProducerId>,
    duplicate: &Appended,
) -> bool {
    let route = producer_id.and_then(|it| partition.log().unfinished_route(it));
    route.is_some_and(|it| it.base_offset == duplicate.base_offset)
}

#[cfg(test)]
mod tests;
