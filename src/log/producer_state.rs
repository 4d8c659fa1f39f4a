//! What a log remembers of each producer: its epoch and newest five batches (KIP-98), and of batches that were
//! routed also where their records went (design part 4).
//!
//! Rule: a batch is accepted only if it follows what is stored, so that a retry is never stored twice.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

use super::LogError;
use crate::{
    base::{Offset, ProducerEpoch, ProducerId, TimestampMs},
    wire::record_batch::{Batch, BatchHeader, ControlType},
};

/// Batches remembered of a producer. Clients have at most this many in flight.
pub(super) const BATCHES_KEPT: usize = 5;

/// How far behind the newest sequence of a derived id a part may lie that is sent again: above what five batches can
/// hold, each of at most `klamm.decompressed.max.bytes`. It may lie ahead by the rest of the circle of 31 bits, since a
/// producer may send a billion records elsewhere between two for one target.
const RETRY_SPAN: i32 = 1 << 27;

/// A batch of a producer that the log holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBatch {
    pub base_sequence: i32,
    pub last_sequence: i32,
    pub base_offset: Offset,
    pub last_offset: Offset,
    /// When it was stored. (Kafka keeps the batch's own timestamp and forgets producers of old records too early.)
    pub timestamp: TimestampMs,
    /// The value of its route record, for a batch that was routed.
    pub route: Option<Bytes>,
}

/// One of a producer's routed batches, perhaps unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRoute {
    pub producer_epoch: ProducerEpoch,
    pub batch: StoredBatch,
}

/// What the log says of a batch before it is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProducerCheck {
    /// It follows what is stored, or has no producer id.
    New,
    /// It is stored already.
    Duplicate(StoredBatch),
}

/// Producer ids that `route` derives have bit 62 set; they are never allocated and refused from clients. Their
/// sequences only rise, compared circularly: a part is not followed by the next sequence, as its neighbours are elsewhere.
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

    /// Notes a stored batch by its header with the final offsets, and its route if it has one.
    pub(super) fn note(&mut self, header: &BatchHeader, route: Option<Bytes>, now: TimestampMs) {
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
                route,
            });
        }
    }

    /// Forgets producers that have stored nothing for `expiration_ms` (`producer.id.expiration.ms`).
    pub(super) fn expire(&mut self, now: TimestampMs, expiration_ms: i64) {
        let expiration_ms = u64::try_from(expiration_ms).unwrap_or(u64::MAX);
        self.0.retain(|_, entry| now.since(entry.seen) < expiration_ms);
    }

    pub(super) fn routes(&self, producer_id: ProducerId) -> Vec<StoredRoute> {
        let Some(entry) = self.0.get(&producer_id) else { return Vec::new() };
        let routed = entry.batches.iter().filter(|it| it.route.is_some());
        routed
            .map(|batch| StoredRoute { producer_epoch: entry.epoch, batch: batch.clone() })
            .collect()
    }

    pub(super) fn with_routes(&self) -> Vec<ProducerId> {
        let has_route = |it: &ProducerEntry| it.batches.iter().any(|batch| batch.route.is_some());
        self.0.iter().filter(|(_, entry)| has_route(entry)).map(|(&id, _)| id).collect()
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

    /// Sequences of a derived id only rise, so one that does not was stored before. For one that is older than the
    /// newest five, the oldest known stands: when that is committed, so is every older one.
    fn check_derived(&self, header: &BatchHeader) -> ProducerCheck {
        let newest = self.batches.back().filter(|_| header.producer_epoch == self.epoch);
        match newest {
            Some(newest) if !is_after(header.base_sequence, newest.base_sequence) => {
                let not_before =
                    |it: &&StoredBatch| !is_after(header.base_sequence, it.base_sequence);
                let stored = self.batches.iter().find(not_before).unwrap_or(newest);
                ProducerCheck::Duplicate(stored.clone())
            }
            _ => ProducerCheck::New,
        }
    }

    pub(super) fn push(&mut self, batch: StoredBatch) {
        if self.batches.len() == BATCHES_KEPT {
            self.batches.pop_front();
        }
        self.batches.push_back(batch);
    }
}

/// Whether sequence `a` comes after `b` on the circle: unless it is the same or a little behind.
fn is_after(a: i32, b: i32) -> bool {
    let behind = b.wrapping_sub(a) & i32::MAX;
    behind > RETRY_SPAN
}

/// The value of a route record, in a copy: a slice would keep the whole request in memory.
pub(super) fn route_of(batch: &Batch) -> Option<Bytes> {
    if !batch.header.attributes.is_control() {
        return None;
    }
    match batch.control() {
        Some((ControlType::Route, value)) => Some(Bytes::copy_from_slice(&value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
