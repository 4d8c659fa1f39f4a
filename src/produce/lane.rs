//! One partition's batches, one after the other, through its topic's hooks.
//!
//! recognise a duplicate → decode once → transforms → partitioner → every check that can refuse → store
//!
//! Rule: a producer's next batch is taken only when the one before is stored everywhere. So only its newest batch can be
//! unfinished, by a failed target or by a crash; an older one that is sent again has only to be acknowledged. The log
//! remembers which one it is.

use std::{sync::Arc, time::Duration};

use tokio::sync::{mpsc, oneshot};

use super::{
    ProduceError, Stored, Submission,
    admission::{admit, fits, fits_rebuilt},
    dead_letter,
    edit::{filtered, stored_deltas},
    forward::Forward,
    hooks::{HookCall, Raised, Transformed},
    inspection::{Inspection, codec},
    keys::check_keys_left,
    long_work::long_work,
    raise::{Placed, size_bytes, verdicts},
    route::Route,
    shared::Shared,
    timestamps::{check_records, is_told},
};
use crate::{
    base::{TopicId, TopicPartition},
    config::TopicConfig,
    log::{Appended, ProducerCheck, StoredBatch, UnfinishedRoute},
    replica::{Acks, Partition, ReplicaError},
    telemetry,
    wire::record_batch::{Batch, BatchHeader, ControlType, DecodedBatch, control_batch},
};

/// Batches that may wait in one lane.
pub(crate) const LANE_BATCHES_MAX: usize = 1_024;

/// How long a part may take to be committed, whatever the client allows: its lane holds a share of what all lanes have.
const COMMIT_TIMEOUT_MAX: Duration = Duration::from_secs(30);

/// A batch and who waits for it.
pub(crate) struct Job {
    pub(crate) submission: Submission,
    pub(crate) reply: oneshot::Sender<Result<Stored, ProduceError>>,
    /// Counts the job while it is on its way.
    pub(crate) on_its_way: Arc<()>,
}

/// The lane's state; nothing in it must survive a restart.
pub(crate) struct Lane {
    shared: Arc<Shared>,
    topic_partition: TopicPartition,
    topic_id: TopicId,
    /// Numbers the records of producers without an id.
    counter: u32,
}

/// One batch on its way, with what is needed at each step.
struct Passage {
    partition: Arc<Partition>,
    batch: Batch,
    acks: Acks,
    timeout: Duration,
    client_id: Arc<str>,
}

impl Lane {
    pub(crate) fn new(
        shared: Arc<Shared>,
        topic_partition: TopicPartition,
        topic_id: TopicId,
    ) -> Self {
        Self { shared, topic_partition, topic_id, counter: 0 }
    }

    /// Takes batches in order until the last handle is gone.
    pub(crate) async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        self.look_for_finished_routes().await;
        while let Some(Job { submission, reply, on_its_way }) = jobs.recv().await {
            let result = self.process(submission).await;
            // Before the answer: whoever acts on that finds the lane as it is then.
            drop(on_its_way);
            // The client may have gone; its batch is stored all the same.
            let _ = reply.send(result);
        }
    }

    /// After a crash every producer's newest route counts as perhaps unfinished, and few are.
    async fn look_for_finished_routes(&self) {
        let Ok(partition) = self.partition() else { return };
        for route in partition.log().unfinished_routes() {
            self.is_stored_everywhere(&partition, &route);
            tokio::task::yield_now().await;
        }
    }

    /// The one that this lane was made for, and no later one of its name.
    fn partition(&self) -> Result<Arc<Partition>, ReplicaError> {
        let partition = self.shared.replicas.leader(&self.topic_partition, None)?;
        let is_it = partition.topic_id == self.topic_id;
        if is_it { Ok(partition) } else { Err(ReplicaError::UnknownTopicOrPartition) }
    }

    async fn process(&mut self, submission: Submission) -> Result<Stored, ProduceError> {
        let partition = self.partition()?;
        let Submission { records, acks, timeout, client_id, .. } = submission;
        let passage = Passage { partition, batch: admit(records)?, acks, timeout, client_id };
        let check = passage.partition.log().check_producer(&passage.batch.header);
        let stored = match check.map_err(ReplicaError::from)? {
            ProducerCheck::New => self.first_time(&passage).await?,
            ProducerCheck::Duplicate(stored) => self.again(&passage, &stored).await?,
        };
        passage.partition.committed(stored.last_offset, acks, timeout).await?;
        Ok(Stored::from(&stored))
    }

    async fn first_time(&mut self, passage: &Passage) -> Result<Appended, ProduceError> {
        let Passage { partition, batch, acks, .. } = passage;
        let config = partition.config();
        let now = telemetry::now();
        fits(batch, &config, now)?;
        self.is_next_of_its_producer(partition, &batch.header)?;
        if !config.has_hooks() {
            // They were taken away, or the batch waits for room.
            let inspection = Inspection { partition: &self.topic_partition, config: &config, now };
            let batch = self.shared.inspect(batch.clone(), inspection).await?;
            return Ok(partition.append(vec![batch], *acks)?);
        }
        let decoded = self.shared.decoded.decode(batch).await?;
        check_records(&decoded.batch, &config, now)?;
        self.through_hooks(passage, &config, &decoded.batch).await
    }

    async fn through_hooks(
        &mut self,
        passage: &Passage,
        config: &TopicConfig,
        decoded: &Arc<DecodedBatch>,
    ) -> Result<Appended, ProduceError> {
        let shared = self.shared.clone();
        let sequence = self.sequence(decoded);
        let call = HookCall {
            plugins: &shared.plugins,
            config,
            partition: &self.topic_partition,
            batch: decoded,
        };
        let mut growth = shared.decoded.room_to_grow(decoded, config.transforms.len()).await;
        let mut transformed = call.transform(telemetry::now(), growth.bytes_max).await?;
        growth.shrink(transformed.edit.new_bytes(decoded));
        check_keys_left(decoded, &transformed.edit, &self.topic_partition, config)?;
        let partitions = shared.replicas.partition_count(&self.topic_partition.topic);
        let observer = shared.metrics.observer(passage.client_id.clone());
        let targets = call.place(&transformed.edit, partitions, sequence, &observer).await?;
        dead_letter::store(&shared, passage.acks, &self.topic_partition, &transformed).await?;
        let stored = match targets {
            None => self.store_here(passage, decoded, &transformed).await,
            Some(targets) => self.store_routed(passage, decoded, &mut transformed, &targets).await,
        }?;
        transformed.keep_states(&self.topic_partition);
        Ok(stored)
    }

    /// The number of the batch's first record: the producer's own, or a counter's.
    fn sequence(&mut self, batch: &DecodedBatch) -> u32 {
        if batch.header.producer_id.is_some() {
            return batch.header.base_sequence.max(0) as u32;
        }
        let first = self.counter;
        self.counter = first.wrapping_add(batch.len() as u32);
        first
    }

    /// The whole batch stays: as received, or as the transforms left it.
    async fn store_here(
        &self,
        passage: &Passage,
        decoded: &DecodedBatch,
        transformed: &Transformed,
    ) -> Result<Appended, ProduceError> {
        let Passage { partition, batch, acks, .. } = passage;
        let (config, edit) = (partition.config(), &transformed.edit);
        let codec = codec(batch, &config)?;
        let has_codec = codec.compression == batch.header.attributes.compression()?;
        let to_store = if edit.is_none() && has_codec && is_told(decoded, &config) {
            batch.clone()
        } else {
            let rebuilt = long_work(decoded.data.len(), || filtered(decoded, edit, codec));
            fits_rebuilt(&rebuilt, batch, &config, self.shared.answer_bytes_max)?;
            rebuilt
        };
        let deltas = stored_deltas(decoded, edit);
        let verdicts = |appended: &Appended| {
            let base = appended.base_offset;
            let placed = Placed {
                topic_id: partition.topic_id,
                partition: &self.topic_partition,
                first: base,
                last: appended.last_offset,
                offset_of: &|index| {
                    deltas.get(index).copied().flatten().map(|delta| base + i64::from(delta))
                },
                dropped: &|_| true,
            };
            verdicts(&config.transforms, Some(&transformed.raised), decoded, &placed)
        };
        self.shared
            .append(partition, to_store, *acks, size_bytes(&transformed.raised), verdicts)
            .await
    }

    /// Some records go elsewhere: the decision is stored first, then acted on.
    async fn store_routed(
        &self,
        passage: &Passage,
        decoded: &DecodedBatch,
        transformed: &mut Transformed,
        targets: &[u32],
    ) -> Result<Appended, ProduceError> {
        let route = Route::new(std::mem::take(&mut transformed.edit), targets);
        let forward = self.forward(passage, decoded, &route, Some(&transformed.raised));
        let parts = forward.split()?;
        forward.check_can_be_stored(&parts)?;
        let Some(producer_id) = passage.batch.header.producer_id else {
            return forward.without_a_producer(parts).await;
        };
        let record = control_batch(&passage.batch.header, ControlType::Route, &route.encode());
        forward.check_can_be_finished(producer_id, &record)?;
        let appended = forward.append_control(record).await?;
        forward.committed(appended.last_offset).await?;
        forward.send_all(&parts).await?;
        passage.partition.log().finish_route(producer_id, appended.base_offset);
        Ok(appended)
    }

    /// The producer sent it before. If it was routed and is not known to be finished, its route is followed to the end.
    async fn again(
        &self,
        passage: &Passage,
        stored: &StoredBatch,
    ) -> Result<Appended, ProduceError> {
        if stored.unfinished_route {
            self.finish(passage, stored).await.map_err(not_everywhere)?;
        }
        Ok(passage.partition.log().duplicate(stored, passage.partition.config().timestamp_type))
    }

    async fn finish(&self, passage: &Passage, stored: &StoredBatch) -> Result<(), ProduceError> {
        let (log, header) = (passage.partition.log(), &passage.batch.header);
        // First, so that few lanes hold a route at the same time.
        let decoded = self.shared.decoded.decode(&passage.batch).await?;
        let record = log.route_record(stored.base_offset).map_err(ReplicaError::from)?;
        let route =
            Route::of_record(&record).map_err(|it| ProduceError::NotEverywhere(it.to_string()))?;
        let forward = self.forward(passage, &decoded.batch, &route, None);
        forward.committed(stored.last_offset).await?;
        forward.send_all(&forward.split()?).await?;
        if let Some(producer_id) = header.producer_id {
            log.finish_route(producer_id, stored.base_offset);
        }
        Ok(())
    }

    fn forward<'a>(
        &'a self,
        passage: &'a Passage,
        decoded: &'a DecodedBatch,
        route: &'a Route,
        raised: Option<&'a [Raised]>,
    ) -> Forward<'a> {
        Forward {
            shared: &self.shared,
            partition: &passage.partition,
            batch: &passage.batch,
            decoded,
            route,
            raised,
            acks: passage.acks,
            timeout: passage.timeout.min(COMMIT_TIMEOUT_MAX),
        }
    }

    /// While a producer's newest batch is unfinished only that batch is taken from it; a newer epoch ends it.
    fn is_next_of_its_producer(
        &self,
        partition: &Partition,
        header: &BatchHeader,
    ) -> Result<(), ProduceError> {
        let unfinished = header.producer_id.and_then(|it| partition.log().unfinished_route(it));
        match unfinished.filter(|it| it.producer_epoch == header.producer_epoch) {
            Some(route) if !self.is_stored_everywhere(partition, &route) => {
                Err(ProduceError::Unfinished)
            }
            _ => Ok(()),
        }
    }

    /// Its targets know. What they say is noted, so that they are asked once.
    fn is_stored_everywhere(&self, partition: &Partition, unfinished: &UnfinishedRoute) -> bool {
        let Ok(record) = partition.log().route_record(unfinished.base_offset) else { return false };
        let Ok(route) = Route::of_record(&record) else { return false };
        let here = &self.topic_partition;
        let is_stored = route.targets().all(|it| self.shared.holds_part(here, it, &record.header));
        if is_stored {
            partition.log().finish_route(unfinished.producer_id, unfinished.base_offset);
        }
        is_stored
    }
}

/// It may be stored in part: whatever fails, the client may neither give the batch up nor number it anew.
fn not_everywhere(error: ProduceError) -> ProduceError {
    match error {
        ProduceError::NotEverywhere(_) => error,
        other => ProduceError::NotEverywhere(other.to_string()),
    }
}
