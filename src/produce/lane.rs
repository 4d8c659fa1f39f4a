//! One partition's batches, one after the other, through its topic's hooks.
//!
//! recognise a duplicate → decode once → transforms → partitioner → every check that can refuse → store
//!
//! Rule: a producer's next batch is taken only when the one before is stored everywhere. So only its newest batch can be
//! unfinished, by a failed target or by a crash; an older one that is sent again has only to be acknowledged.

use std::{collections::HashSet, sync::Arc};

use tokio::sync::{mpsc, oneshot};

use super::{
    ProduceError, Stored, Submission,
    admission::admit,
    dead_letter,
    edit::{Fate, filtered, stored_deltas},
    forward::Forward,
    hooks::{HookCall, Transformed},
    raise::{Placed, verdicts},
    route::Route,
    shared::{Shared, codec},
};
use crate::{
    base::{Offset, ProducerId, TopicPartition},
    log::{ProducerCheck, StoredBatch, StoredRoute},
    replica::Partition,
    telemetry,
    wire::record_batch::{
        Batch, BatchHeader, ControlType, DecodedBatch, TimestampType, control_batch,
    },
};

/// Batches that may wait in one lane.
pub(crate) const LANE_BATCHES_MAX: usize = 1_024;

/// Producers that a lane remembers to have finished; above, it forgets them and asks the targets again.
const FINISHED_MAX: usize = 100_000;

/// A batch and who waits for it.
pub(crate) type Job = (Submission, oneshot::Sender<Result<Stored, ProduceError>>);

/// The lane's state; nothing in it must survive a restart.
pub(crate) struct Lane {
    shared: Arc<Shared>,
    topic_partition: TopicPartition,
    /// Producers whose newest batch is known to be stored everywhere. Of all others the targets are asked.
    finished: HashSet<ProducerId>,
    /// Numbers the records of producers without an id.
    counter: u32,
}

/// One batch on its way, with what is needed at each step.
struct Passage {
    partition: Arc<Partition>,
    batch: Batch,
    decoded: Arc<DecodedBatch>,
    submission: Submission,
}

impl Lane {
    pub(crate) fn new(shared: Arc<Shared>, topic_partition: TopicPartition) -> Self {
        Self { shared, topic_partition, finished: HashSet::new(), counter: 0 }
    }

    /// Takes batches in order until the last handle is gone.
    pub(crate) async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some((submission, reply)) = jobs.recv().await {
            let result = self.process(submission).await;
            // The client may have gone; its batch is stored all the same.
            let _ = reply.send(result);
        }
    }

    async fn process(&mut self, submission: Submission) -> Result<Stored, ProduceError> {
        let partition = self.shared.leader(&self.topic_partition)?;
        let batch = admit(submission.records.clone(), &partition.config(), telemetry::now())?;
        let check = partition.log().check_producer(&batch.header);
        let check = check.map_err(crate::replica::ReplicaError::from)?;
        if let ProducerCheck::New = check {
            self.is_next_of_its_producer(&partition, &batch.header)?;
        }
        let decoded = Arc::new(batch.decode(self.shared.decompressed_max_bytes)?);
        let passage = Passage { partition, batch, decoded, submission };
        match check {
            ProducerCheck::New => self.first_time(&passage).await,
            ProducerCheck::Duplicate(stored) => self.again(&passage, stored).await,
        }
    }

    async fn first_time(&mut self, passage: &Passage) -> Result<Stored, ProduceError> {
        let shared = self.shared.clone();
        let sequence = self.sequence(&passage.decoded);
        let config = passage.partition.config();
        let call = HookCall {
            plugins: &shared.plugins,
            config: &config,
            partition: &self.topic_partition,
            batch: &passage.decoded,
            bytes_max: shared.decompressed_max_bytes,
        };
        let mut transformed = call.transform(telemetry::now()).await?;
        let partitions = shared.replicas.partition_count(&self.topic_partition.topic);
        let observer = shared.metrics.observer(passage.submission.client_id.clone());
        let targets = call.place(&transformed.edit, partitions, sequence, &observer).await?;
        dead_letter::store(&shared, passage.submission.acks, &self.topic_partition, &transformed)
            .await?;
        let stored = match targets {
            None => self.store_here(passage, &transformed).await,
            Some(targets) => self.store_routed(passage, &transformed, &targets).await,
        }?;
        self.finish(&passage.batch.header);
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
        transformed: &Transformed,
    ) -> Result<Stored, ProduceError> {
        let Passage { partition, batch, decoded, submission } = passage;
        let config = partition.config();
        let codec = codec(batch, &config)?;
        let as_received =
            transformed.edit.is_none() && codec == batch.header.attributes.compression()?;
        let to_store =
            if as_received { batch.clone() } else { filtered(decoded, &transformed.edit, codec) };
        let deltas = stored_deltas(decoded, &transformed.edit);
        let appended = self
            .shared
            .append(partition, to_store, submission.acks, |appended| {
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
            })
            .await?;
        partition.committed(appended.last_offset, submission.acks, submission.timeout).await?;
        Ok(Stored::from(&appended))
    }

    /// Some records go elsewhere: the decision is stored first, then acted on.
    async fn store_routed(
        &mut self,
        passage: &Passage,
        transformed: &Transformed,
        targets: &[u32],
    ) -> Result<Stored, ProduceError> {
        let route = Route::new(transformed.edit.clone(), targets);
        let forward = self.forward(passage, &route, Some(transformed));
        let parts = forward.split()?;
        let Some(producer_id) = passage.batch.header.producer_id else {
            return forward.without_a_producer(parts).await;
        };
        let record = control_batch(&passage.batch.header, ControlType::Route, &route.encode());
        forward.check_can_be_finished(producer_id, &record, &parts)?;
        self.finished.remove(&producer_id);
        let forward = self.forward(passage, &route, Some(transformed));
        let appended = forward.append_control(record).await?;
        forward.committed(appended.last_offset).await?;
        forward.send_all(&parts).await?;
        Ok(Stored::from(&appended))
    }

    /// The producer sent it before: acknowledged when its stored copy is committed, its route followed to the end.
    async fn again(&self, passage: &Passage, stored: StoredBatch) -> Result<Stored, ProduceError> {
        if let Some(value) = &stored.route {
            let route = decode_route(value)?;
            let forward = self.forward(passage, &route, None);
            forward.committed(stored.last_offset).await?;
            forward.send_all(&forward.split()?).await?;
        }
        let Passage { partition, submission, .. } = passage;
        partition.committed(stored.last_offset, submission.acks, submission.timeout).await?;
        let is_stamped = partition.config().timestamp_type == TimestampType::LogAppendTime;
        Ok(Stored {
            base_offset: stored.base_offset,
            log_append_time: is_stamped.then_some(stored.timestamp),
            log_start_offset: partition.log().log_start_offset(),
        })
    }

    fn forward<'a>(
        &'a self,
        passage: &'a Passage,
        route: &'a Route,
        transformed: Option<&'a Transformed>,
    ) -> Forward<'a> {
        Forward {
            shared: &self.shared,
            partition: &passage.partition,
            batch: &passage.batch,
            decoded: &passage.decoded,
            route,
            raised: transformed.map(|it| it.raised.as_slice()),
            acks: passage.submission.acks,
            timeout: passage.submission.timeout,
        }
    }

    fn finish(&mut self, header: &BatchHeader) {
        let Some(producer_id) = header.producer_id else { return };
        if self.finished.len() >= FINISHED_MAX {
            self.finished.clear();
        }
        self.finished.insert(producer_id);
    }

    /// While a producer's newest batch is unfinished only that batch is taken from it; a newer epoch ends it.
    fn is_next_of_its_producer(
        &self,
        partition: &Partition,
        header: &BatchHeader,
    ) -> Result<(), ProduceError> {
        let Some(producer_id) = header.producer_id else { return Ok(()) };
        if self.finished.contains(&producer_id) {
            return Ok(());
        }
        let routes = partition.log().routes(producer_id);
        match routes.last().filter(|it| is_just_before(it, header)) {
            Some(route) => self.is_stored_everywhere(route, producer_id, header),
            None => Ok(()),
        }
    }

    /// Its targets know.
    fn is_stored_everywhere(
        &self,
        stored: &StoredRoute,
        producer_id: ProducerId,
        next: &BatchHeader,
    ) -> Result<(), ProduceError> {
        let route = decode_route(stored.batch.route.as_deref().unwrap_or_default())?;
        let sent = BatchHeader { base_sequence: stored.batch.base_sequence, ..next.clone() };
        let holds =
            |target| self.shared.holds_part(&self.topic_partition, target, producer_id, &sent);
        if route.targets().all(holds) { Ok(()) } else { Err(ProduceError::Unfinished) }
    }
}

/// Whether a routed batch is the producer's newest, so that it may be unfinished. If one came after it, that one was
/// taken because this one was stored everywhere; its targets may have forgotten it since.
fn is_just_before(route: &StoredRoute, header: &BatchHeader) -> bool {
    let next = route.batch.last_sequence.wrapping_add(1) & i32::MAX;
    route.producer_epoch == header.producer_epoch && next == header.base_sequence
}

fn decode_route(value: &[u8]) -> Result<Route, ProduceError> {
    Route::decode(value).map_err(|it| ProduceError::NotEverywhere(it.to_string()))
}

/// Whether dropped records are told of with the receiving partition's control batch.
pub(crate) fn is_dropped(route: &Route, index: usize) -> bool {
    route.0.get(index).is_some_and(|it| it.fate == Fate::Dropped)
}

/// The last offset of an append that held one batch whose records have consecutive deltas.
pub(crate) fn nth(base: Offset, index: usize) -> Offset {
    base + index as i64
}
