//! Reads a machine's log from its start to its end, for replay.

use super::append::StoredRecord;
use crate::{
    base::Offset,
    replica::{Partition, ReplicaError},
    wire::record_batch::{Batch, split},
};

/// Bytes of one read.
const READ_BYTES: usize = 1024 * 1024;

/// Why a log could not be replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("read the log")]
    Read(#[from] ReplicaError),
    #[error("the batch at offset {offset:?} cannot be read: {reason}")]
    Batch { offset: Offset, reason: String },
}

/// Hands every record to `replay`, in order. Reads from disk: not for the runtime's workers.
pub(crate) fn load(
    partition: &Partition,
    decompressed_max_bytes: usize,
    mut replay: impl FnMut(&StoredRecord),
) -> Result<(), LoadError> {
    let log = partition.log();
    let end = log.log_end_offset();
    let mut next = log.log_start_offset();
    while next < end {
        let fetched = log.read(next, end, READ_BYTES, true).map_err(ReplicaError::from)?;
        let batches = split(fetched.records).map_err(|it| unreadable(next, &it))?;
        let Some(last) = batches.last() else { break };
        next = last.header.last_offset() + 1;
        for batch in &batches {
            replay_batch(batch, decompressed_max_bytes, &mut replay)?;
        }
    }
    Ok(())
}

fn replay_batch(
    batch: &Batch,
    max_bytes: usize,
    replay: &mut impl FnMut(&StoredRecord),
) -> Result<(), LoadError> {
    if batch.header.attributes.is_control() {
        // One of another version's types is none of the machine's.
        if let Some(record) = batch.control_record() {
            let subject = record.key.slice_ref(record.subject());
            replay(&StoredRecord::Control { kind: record.kind, subject, value: record.value });
        }
        return Ok(());
    }
    let decoded =
        batch.decode(max_bytes).map_err(|it| unreadable(batch.header.base_offset, &it))?;
    for record in decoded.records() {
        if let Some(key) = record.key() {
            let copy = |bytes: &[u8]| decoded.data.slice_ref(bytes);
            replay(&StoredRecord::Data { key: copy(key), value: record.value().map(copy) });
        }
    }
    Ok(())
}

fn unreadable(offset: Offset, error: &dyn std::error::Error) -> LoadError {
    LoadError::Batch { offset, reason: error.to_string() }
}
