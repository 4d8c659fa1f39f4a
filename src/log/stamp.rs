//! What the leader sets in a batch as it stores it: base offset and leader epoch, which lie outside the CRC, and where
//! the topic asks for it the timestamp. The records themselves are neither copied nor looked at.

use bytes::Bytes;

use super::{AppendContext, cursor::CRC_START};
use crate::{
    base::Offset,
    wire::record_batch::{Batch, BatchHeader, HEADER_BYTES, TimestampType},
};

/// A batch ready to be written: a new header over the received rest.
#[derive(Debug)]
pub(super) struct Stamped {
    pub(super) header: BatchHeader,
    pub(super) head: [u8; HEADER_BYTES],
    pub(super) rest: Bytes,
}

/// Gives the batch its place. What recovery checks after a read is asserted here, before the write.
pub(super) fn stamp(batch: &Batch, base_offset: Offset, context: &AppendContext) -> Stamped {
    assert!(batch.bytes.len() == batch.header.size_bytes(), "a batch is as long as it says");
    assert!(batch.header.last_offset_delta >= 0, "a validated batch has a last offset");
    let mut head = [0; HEADER_BYTES];
    head.copy_from_slice(batch.bytes.get(..HEADER_BYTES).expect("a batch has a header"));
    let rest = batch.bytes.slice(HEADER_BYTES..);
    let mut header = batch.header.clone();

    header.base_offset = base_offset;
    header.partition_leader_epoch = context.leader_epoch;
    put(&mut head, 0, &base_offset.0.to_be_bytes());
    put(&mut head, 12, &context.leader_epoch.0.to_be_bytes());

    let is_stamped = context.timestamp_type == TimestampType::LogAppendTime;
    if is_stamped || header.attributes.timestamp_type() != context.timestamp_type {
        stamp_time(&mut header, &mut head, &rest, context);
    }
    Stamped { header, head, rest }
}

/// Sets timestamp type and largest timestamp; they lie under the CRC, which is computed anew.
fn stamp_time(
    header: &mut BatchHeader,
    head: &mut [u8; HEADER_BYTES],
    rest: &[u8],
    context: &AppendContext,
) {
    header.attributes = header.attributes.with_timestamp_type(context.timestamp_type);
    if context.timestamp_type == TimestampType::LogAppendTime {
        header.max_timestamp = context.now;
    }
    put(head, 21, &header.attributes.0.to_be_bytes());
    put(head, 35, &header.max_timestamp.0.to_be_bytes());
    let covered = head.get(CRC_START..).unwrap_or_default();
    header.crc = crc32c::crc32c_append(crc32c::crc32c(covered), rest);
    put(head, 17, &header.crc.to_be_bytes());
}

fn put(head: &mut [u8; HEADER_BYTES], at: usize, bytes: &[u8]) {
    if let Some(field) = head.get_mut(at..at + bytes.len()) {
        field.copy_from_slice(bytes);
    }
}
