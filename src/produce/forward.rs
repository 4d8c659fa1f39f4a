//! Sends the parts of a routed batch to their targets, in order, and waits for each as `acks` asks.
//!
//! All targets are on this node. Where one is not, the part would go through `peer` to its leader's lane, under the
//! receiving leader's epoch.

use std::{sync::Arc, time::Duration};

use super::{
    ProduceError,
    admission::fits_rebuilt,
    derived::derived_id,
    hooks::Raised,
    inspection::codec,
    long_work::long_work,
    raise::{Placed, size_bytes, verdicts},
    route::{Part, Route},
    shared::Shared,
};
use crate::{
    base::{Offset, ProducerId, TopicPartition},
    log::{Appended, LogError, ProducerCheck},
    replica::{Acks, Partition, ReplicaError},
    wire::record_batch::{Batch, BatchHeader, ControlType, DecodedBatch, control_batch},
};

/// One routed batch, and what its parts are sent under.
pub(crate) struct Forward<'a> {
    pub(crate) shared: &'a Shared,
    /// The receiving partition.
    pub(crate) partition: &'a Arc<Partition>,
    pub(crate) batch: &'a Batch,
    pub(crate) decoded: &'a DecodedBatch,
    pub(crate) route: &'a Route,
    /// `None` for a retry: no plugin was asked, so what is stored now is evaluated from the log.
    pub(crate) raised: Option<&'a [Raised]>,
    pub(crate) acks: Acks,
    pub(crate) timeout: Duration,
}

impl Forward<'_> {
    /// Refuses, before anything is stored, parts that could not be read, and those that no segment can hold.
    pub(crate) fn check_can_be_stored(&self, parts: &[Part]) -> Result<(), ProduceError> {
        let config = self.partition.config();
        parts.iter().try_for_each(|part| {
            fits_rebuilt(&part.batch, self.batch, &config, self.shared.answer_bytes_max)?;
            self.fits_a_segment(&part.batch)
        })
    }

    /// Likewise, of a batch with a producer, what no derived id can be made of: it could be begun and never finished.
    pub(crate) fn check_can_be_finished(
        &self,
        producer_id: ProducerId,
        record: &Batch,
    ) -> Result<(), ProduceError> {
        let here = self.partition.topic_partition.partition;
        derived_id(producer_id, here).ok_or(ProduceError::InvalidRequest(
            "the producer id or the partition is too large to be routed",
        ))?;
        self.fits_a_segment(record)
    }

    fn fits_a_segment(&self, batch: &Batch) -> Result<(), ProduceError> {
        let (size, max) = (batch.bytes.len(), self.partition.config().segment_bytes as usize);
        if size > max {
            return Err(ReplicaError::from(LogError::RecordListTooLarge { size, max }).into());
        }
        Ok(())
    }

    /// Stores the control batch that stands in the receiving partition, and tells of dropped records with it.
    pub(crate) async fn append_control(&self, batch: Batch) -> Result<Appended, ProduceError> {
        self.append(self.partition, batch, &|_| None, &|index| self.route.is_dropped(index)).await
    }

    /// Waits for the route record. It is stored, so the producer must send the same batch again if this fails.
    pub(crate) async fn committed(&self, last_offset: Offset) -> Result<(), ProduceError> {
        let committed = self.partition.committed(last_offset, self.acks, self.timeout).await;
        committed.map_err(|it| ProduceError::NotEverywhere(it.to_string()))
    }

    /// Sends every part. One may be stored already, and any may fail: from here on only a retry of the same batch helps.
    pub(crate) async fn send_all(&self, parts: &[Part]) -> Result<(), ProduceError> {
        for part in parts {
            self.send(part).await.map_err(|it| ProduceError::NotEverywhere(it.to_string()))?;
        }
        Ok(())
    }

    /// Without a producer id there is nothing to recognise a retry by: no route, and at-least-once. What stays is
    /// stored first, or an empty control batch, so that the answer has an offset that is no other record's.
    pub(crate) async fn without_a_producer(
        &self,
        parts: Vec<Part>,
    ) -> Result<Appended, ProduceError> {
        let here = self.partition.topic_partition.partition;
        let (mine, others): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|it| it.target == here);
        let dropped = |index| self.route.is_dropped(index);
        let appended = if let Some(part) = mine.first() {
            self.store(self.partition, part, &dropped).await?
        } else {
            let empty = control_batch(&self.batch.header, ControlType::Empty, &[]);
            self.append_control(empty).await?
        };
        self.committed(appended.last_offset).await?;
        self.send_all(&others).await?;
        Ok(appended)
    }

    /// The parts, as the route says.
    pub(crate) fn split(&self) -> Result<Vec<Part>, ProduceError> {
        let codec = codec(self.batch, &self.partition.config())?;
        let here = self.partition.topic_partition.partition;
        let parts =
            long_work(self.decoded.data.len(), || self.route.parts(self.decoded, here, codec));
        parts.map_err(|it| ProduceError::NotEverywhere(it.to_string()))
    }

    async fn send(&self, part: &Part) -> Result<(), ProduceError> {
        let topic = self.partition.topic_partition.topic.clone();
        let target = self.shared.leader(&TopicPartition { topic, partition: part.target })?;
        let appended = self.store(&target, part, &|_| false).await?;
        Ok(target.committed(appended.last_offset, self.acks, self.timeout).await?)
    }

    async fn store(
        &self,
        target: &Partition,
        part: &Part,
        dropped: &(dyn Fn(usize) -> bool + Sync),
    ) -> Result<Appended, ProduceError> {
        let position = |index: usize| part.indices.binary_search(&index).ok();
        self.append(target, part.batch.clone(), &position, dropped).await
    }

    async fn append(
        &self,
        target: &Partition,
        batch: Batch,
        position: &(dyn Fn(usize) -> Option<usize> + Sync),
        dropped: &(dyn Fn(usize) -> bool + Sync),
    ) -> Result<Appended, ProduceError> {
        let transforms = &target.config().transforms;
        self.shared
            .append(target, batch, self.acks, self.raised.map_or(0, size_bytes), |appended| {
                // The offsets of a part follow each other.
                let nth = |at: usize| appended.base_offset + at as i64;
                let placed = Placed {
                    topic_id: target.topic_id,
                    partition: &target.topic_partition,
                    first: appended.base_offset,
                    last: appended.last_offset,
                    offset_of: &|index| position(index).map(nth),
                    dropped,
                };
                verdicts(transforms, self.raised, self.decoded, &placed)
            })
            .await
    }
}

impl Shared {
    /// Whether a target holds its part of a routed batch, or has seen a newer epoch of its producer, which ended it.
    /// `routed` is the batch's own header, or that of its route record.
    pub(crate) fn holds_part(
        &self,
        receiving: &TopicPartition,
        target: u32,
        routed: &BatchHeader,
    ) -> bool {
        let id = TopicPartition { topic: receiving.topic.clone(), partition: target as i32 };
        let Ok(partition) = self.leader(&id) else { return false };
        let derived = routed.producer_id.and_then(|it| derived_id(it, receiving.partition));
        let part = BatchHeader { producer_id: derived, ..routed.clone() };
        match partition.log().check_producer(&part) {
            Ok(ProducerCheck::Duplicate(_)) | Err(LogError::InvalidProducerEpoch { .. }) => true,
            Ok(ProducerCheck::New) | Err(_) => false,
        }
    }
}
