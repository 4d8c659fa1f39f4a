//! What a log remembers of each producer: its epoch and newest five batches (KIP-98), and whether the newest one was
//! routed and is perhaps unfinished.
//!
//! Rule: a batch is accepted only if it follows what is stored, so that a retry is never stored twice.

use std::collections::{HashMap, VecDeque};

use super::LogError;
use crate::{
    base::{Offset, ProducerEpoch, ProducerId, TimestampMs},
    wire::record_batch::{Batch, BatchHeader, ControlType},
};

/// Batches remembered of a producer. Clients have at most this many in flight.
pub(super) const BATCHES_KEPT: usize = 5;

/// A producer's newest batch, if it is a route record whose parts may not all be stored. It is such from its append on,
/// also over a restart, until [`super::Log::finish_route`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedRoute {
    pub producer_id: ProducerId,
    pub producer_epoch: ProducerEpoch,
    pub base_offset: Offset,
    /// When it was stored, or was found after a crash.
    pub(super) timestamp: TimestampMs,
}

/// A batch of a producer that the log holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBatch {
    pub base_sequence: i32,
    pub last_sequence: i32,
    pub base_offset: Offset,
    pub last_offset: Offset,
    /// When it was stored. (Kafka keeps the batch's own timestamp and forgets producers of old records too early.)
    pub timestamp: TimestampMs,
    /// It is a route record whose parts are perhaps not all stored. Only a producer's newest batch can be one: the next
    /// is taken when it is finished. What the record says is read from the log.
    pub unfinished_route: bool,
}

/// What the log says of a batch before it is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProducerCheck {
    /// It follows what is stored, or has no producer id.
    New,
    /// It is stored already.
    Duplicate(StoredBatch),
}

/// Producer ids that `route` derives have bit 62 set; they are never allocated and refused from clients. A part is not
/// followed by the next sequence, as its neighbours are elsewhere.
pub fn is_derived(producer_id: ProducerId) -> bool {
    producer_id.0 & (1 << 62) != 0
}

/// One producer's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProducerEntry {
    pub(super) epoch: ProducerEpoch,
    /// When anything of the producer was last stored.
    pub(super) seen: TimestampMs,
    /// Of this epoch, oldest first; at most [`BATCHES_KEPT`].
    pub(super) batches: VecDeque<StoredBatch>,
}

/// What `DescribeProducers` tells of a producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveProducer {
    pub producer_id: ProducerId,
    pub producer_epoch: ProducerEpoch,
    /// −1 before its first batch of this epoch.
    pub last_sequence: i32,
    /// When anything of it was last stored.
    pub last_timestamp: TimestampMs,
}

/// All producers of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProducerStates(pub(super) HashMap<ProducerId, ProducerEntry>);

impl ProducerStates {
    /// What an append of the batch would mean. As Kafka's `ProducerAppendInfo`: a producer that is not known (any
    /// more) may begin anywhere, a new epoch begins at sequence 0.
    pub(super) fn check(&self, header: &BatchHeader) -> Result<ProducerCheck, LogError> {
        let Some(producer_id) = header.producer_id else { return Ok(ProducerCheck::New) };
        match self.0.get(&producer_id) {
            Some(entry) => entry.check(producer_id, header),
            None => Ok(ProducerCheck::New),
        }
    }

    /// Notes a stored batch by its header with the final offsets, and whether it is a route record.
    pub(super) fn note(&mut self, header: &BatchHeader, is_route: bool, now: TimestampMs) {
        let Some(producer_id) = header.producer_id else { return };
        let entry = self.0.entry(producer_id).or_insert_with(|| ProducerEntry {
            epoch: header.producer_epoch,
            seen: now,
            batches: VecDeque::new(),
        });
        entry.seen = now;
        if entry.epoch != header.producer_epoch {
            entry.epoch = header.producer_epoch;
            entry.batches.clear();
        }
        if header.base_sequence >= 0 {
            entry.push(StoredBatch {
                base_sequence: header.base_sequence,
                last_sequence: header.last_sequence(),
                base_offset: header.base_offset,
                last_offset: header.last_offset(),
                timestamp: now,
                unfinished_route: is_route,
            });
        }
    }

    /// Forgets producers that have stored nothing for `expiration_ms` (`producer.id.expiration.ms`).
    pub(super) fn expire(&mut self, now: TimestampMs, expiration_ms: i64) {
        let expiration_ms = u64::try_from(expiration_ms).unwrap_or(u64::MAX);
        self.0.retain(|_, entry| now.since(entry.seen) < expiration_ms);
    }

    /// By id.
    pub(super) fn active(&self) -> Vec<ActiveProducer> {
        let active = |(&producer_id, entry): (&ProducerId, &ProducerEntry)| ActiveProducer {
            producer_id,
            producer_epoch: entry.epoch,
            last_sequence: entry.batches.back().map_or(-1, |it| it.last_sequence),
            last_timestamp: entry.seen,
        };
        let mut producers: Vec<_> = self.0.iter().map(active).collect();
        producers.sort_unstable_by_key(|it| it.producer_id);
        producers
    }

    pub(super) fn unfinished_route(&self, producer_id: ProducerId) -> Option<UnfinishedRoute> {
        self.0.get(&producer_id)?.unfinished_route(producer_id)
    }

    pub(super) fn unfinished_routes(&self) -> impl Iterator<Item = UnfinishedRoute> {
        self.0.iter().filter_map(|(&id, entry)| entry.unfinished_route(id))
    }

    /// All parts of the route record at `base_offset` are stored.
    pub(super) fn finish_route(&mut self, producer_id: ProducerId, base_offset: Offset) {
        let newest = self.0.get_mut(&producer_id).and_then(|it| it.batches.back_mut());
        if let Some(it) = newest.filter(|it| it.base_offset == base_offset) {
            it.unfinished_route = false;
        }
    }
}

impl ProducerEntry {
    fn check(
        &self,
        producer_id: ProducerId,
        header: &BatchHeader,
    ) -> Result<ProducerCheck, LogError> {
        if header.producer_epoch < self.epoch {
            return Err(LogError::InvalidProducerEpoch {
                producer_id: producer_id.0,
                current: self.epoch.0,
                got: header.producer_epoch.0,
            });
        }
        if header.base_sequence < 0 {
            return Ok(ProducerCheck::New);
        }
        if is_derived(producer_id) {
            return Ok(self.check_derived(header));
        }
        self.check_sequence(producer_id, header)
    }

    fn check_sequence(
        &self,
        producer_id: ProducerId,
        header: &BatchHeader,
    ) -> Result<ProducerCheck, LogError> {
        let is_same_epoch = header.producer_epoch == self.epoch;
        if is_same_epoch && let Some(stored) = self.find(header) {
            return Ok(ProducerCheck::Duplicate(stored.clone()));
        }
        let last = self.batches.back().map(|it| it.last_sequence).filter(|_| is_same_epoch);
        let expected = last.map_or(0, |it| it.wrapping_add(1) & i32::MAX);
        if header.base_sequence == expected {
            return Ok(ProducerCheck::New);
        }
        Err(LogError::OutOfOrderSequence {
            producer_id: producer_id.0,
            last: last.unwrap_or(-1),
            got: header.base_sequence,
        })
    }

    fn find(&self, header: &BatchHeader) -> Option<&StoredBatch> {
        let is_it = |it: &&StoredBatch| {
            it.base_sequence == header.base_sequence && it.last_sequence == header.last_sequence()
        };
        self.batches.iter().find(is_it)
    }

    /// A part that is sent again is of its producer's newest batch, so it is among the newest here too, or was never
    /// stored. How far apart sequences lie tells nothing: a producer may send billions of records elsewhere between two
    /// parts, around the circle of 31 bits.
    fn check_derived(&self, header: &BatchHeader) -> ProducerCheck {
        let is_it = |it: &&StoredBatch| it.base_sequence == header.base_sequence;
        let known = self.batches.iter().rev().find(is_it);
        match known.filter(|_| header.producer_epoch == self.epoch) {
            Some(stored) => ProducerCheck::Duplicate(stored.clone()),
            None => ProducerCheck::New,
        }
    }

    fn unfinished_route(&self, producer_id: ProducerId) -> Option<UnfinishedRoute> {
        let newest = self.batches.back().filter(|it| it.unfinished_route)?;
        Some(UnfinishedRoute {
            producer_id,
            producer_epoch: self.epoch,
            base_offset: newest.base_offset,
            timestamp: newest.timestamp,
        })
    }

    /// What comes next was taken because the batch before is finished.
    pub(super) fn push(&mut self, batch: StoredBatch) {
        if self.batches.len() == BATCHES_KEPT {
            self.batches.pop_front();
        }
        if let Some(before) = self.batches.back_mut() {
            before.unfinished_route = false;
        }
        self.batches.push_back(batch);
    }
}

/// Whether a batch is a route record.
pub(super) fn is_route(batch: &Batch) -> bool {
    matches!(batch.control(), Some((ControlType::Route, _)))
}

#[cfg(test)]
mod tests;
