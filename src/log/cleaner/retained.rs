//! What the cleaner leaves of a batch. Decides, and touches no file.
//!
//! | record                                       | stays                                                                    |
//! |----------------------------------------------|--------------------------------------------------------------------------|
//! | with a key                                   | while none with the key is newer                                         |
//! | a tombstone (no value)                       | also only until its batch's delete horizon                               |
//! | without a key                                | never, as in Kafka                                                       |
//! | a transaction marker                         | always, while there are no transactions                                  |
//! | `Empty` (ours)                               | never                                                                    |
//! | `Route` (ours)                               | while its batch is its producer's newest: its parts may be missing elsewhere |
//! | `PendingAlert` (ours)                        | while nothing newer is told of its alert                                 |
//! | of a control type that is not known          | always                                                                   |

use std::collections::HashMap;

use super::{super::producer_state::ProducerStates, offset_map::OffsetMap};
use crate::{
    base::{Offset, ProducerId, TimestampMs},
    wire::record_batch::{
        Batch, BatchError, BatchHeader, Compacted, ControlRecord, ControlType, RecordRef,
    },
};

/// The last batch of every producer that is remembered. Its records may go; it stays, since it alone tells the producer's
/// sequence when the log is read anew.
#[derive(Debug, Default)]
pub(super) struct LastBatches(HashMap<ProducerId, Last>);

/// By the last offsets of the batches.
#[derive(Debug, Default)]
struct Last {
    /// As the log knows it; perhaps in the active segment, and not on disk yet.
    newest: Option<Offset>,
    /// Of what is about to be cleaned: what a power cut would leave.
    on_disk: Option<Offset>,
}

impl LastBatches {
    pub(super) fn of(producers: &ProducerStates) -> Self {
        let last = producers.0.iter().map(|(id, entry)| {
            let newest = entry.batches.back().map(|it| it.last_offset);
            (*id, Last { newest, on_disk: None })
        });
        Self(last.collect())
    }

    /// Takes note of a batch that is about to be cleaned. They come in order.
    pub(super) fn note(&mut self, header: &BatchHeader) {
        if let Some(last) = header.producer_id.and_then(|it| self.0.get_mut(&it)) {
            last.on_disk = Some(header.last_offset());
        }
    }

    pub(super) fn holds(&self, header: &BatchHeader) -> bool {
        let last = header.producer_id.and_then(|it| self.0.get(&it));
        let offset = Some(header.last_offset());
        last.is_some_and(|it| it.newest == offset || it.on_disk == offset)
    }
}

/// What the cleaner goes by.
pub(super) struct Rule {
    /// The newest record of each key, of what was not clean.
    pub(super) newest: OffsetMap,
    pub(super) last_batches: LastBatches,
    pub(super) now: TimestampMs,
    pub(super) delete_retention_ms: i64,
    /// Most that a batch may expand to.
    pub(super) decompressed_max_bytes: usize,
}

impl Rule {
    /// Takes note of the records of a batch from `first_dirty` on; `false` if there is no room for all of them.
    pub(super) fn note(&mut self, batch: &Batch, first_dirty: Offset) -> Result<bool, BatchError> {
        let header = &batch.header;
        self.last_batches.note(header);
        let mut fits = true;
        if header.attributes.is_control() {
            if let Some(record) = control_key(batch) {
                fits = self.put(&record.key, header.last_offset(), first_dirty);
            }
        } else {
            batch.records(self.decompressed_max_bytes)?.for_each(|record| {
                if let Some(key) = record.key().filter(|_| fits) {
                    let offset = header.base_offset + i64::from(record.offset_delta());
                    fits = self.put(key, offset, first_dirty);
                }
            })?;
        }
        if fits {
            self.newest.pass(header.last_offset());
        }
        Ok(fits)
    }

    fn put(&mut self, key: &[u8], offset: Offset, first_dirty: Offset) -> bool {
        let has_room = !self.newest.is_full();
        if has_room && offset >= first_dirty {
            self.newest.put(key, offset);
        }
        has_room
    }

    /// What is left of a batch.
    pub(super) fn compact(&self, batch: &Batch) -> Result<Compacted, BatchError> {
        if batch.header.base_offset > self.newest.latest() {
            return Ok(Compacted::Unchanged);
        }
        if batch.header.attributes.is_control() {
            let stays = self.control_stays(batch);
            return Ok(if stays { Compacted::Unchanged } else { Compacted::Nothing });
        }
        let horizon = TimestampMs(self.now.0.saturating_add(self.delete_retention_ms));
        batch
            .records(self.decompressed_max_bytes)?
            .compact(horizon, |record| self.record_stays(&batch.header, record))
    }

    fn record_stays(&self, header: &BatchHeader, record: &RecordRef<'_>) -> bool {
        let offset = header.base_offset + i64::from(record.offset_delta());
        if offset > self.newest.latest() {
            return true;
        }
        let Some(key) = record.key() else { return false };
        let is_live =
            record.value().is_some() || header.delete_horizon().is_none_or(|at| self.now < at);
        is_live && self.is_newest(key, offset)
    }

    fn control_stays(&self, batch: &Batch) -> bool {
        let header = &batch.header;
        if header.last_offset() > self.newest.latest() {
            return true;
        }
        let Some(record) = batch.control_record() else { return header.records_count > 0 };
        match record.kind {
            ControlType::Abort | ControlType::Commit => true,
            ControlType::Empty => false,
            // Whether it is finished is not asked: after a crash nobody knows before its targets were.
            ControlType::Route => self.last_batches.holds(header),
            ControlType::PendingAlert => self.pending_stays(&record, header.last_offset()),
        }
    }

    /// A pending alert takes nothing from what consumers read: only others of its kind are superseded by it.
    fn pending_stays(&self, record: &ControlRecord, offset: Offset) -> bool {
        record.subject().is_empty()
            || self.is_newest(&record.key, offset) && self.is_newest(record.subject(), offset)
    }

    fn is_newest(&self, key: &[u8], offset: Offset) -> bool {
        self.newest.get(key).is_none_or(|newest| newest <= offset)
    }
}

/// What compaction knows a control record by; `None` for one that supersedes no other.
fn control_key(batch: &Batch) -> Option<ControlRecord> {
    let record = batch.control_record()?;
    let is_keyed = record.kind == ControlType::PendingAlert && !record.subject().is_empty();
    is_keyed.then_some(record)
}
