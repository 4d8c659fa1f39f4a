//! The target assignment: `ConsumerGroupTargetAssignmentMetadataValue` (key version 6), its epoch as i32, and
//! `ConsumerGroupTargetAssignmentMemberValue` (key version 7), one member's partitions.

use bytes::Bytes;

use super::{RecordError, partitions, reader, writer};
use crate::group::consumer::TopicPartitions;

pub(in crate::group::record) fn encode_epoch(epoch: i32) -> Bytes {
    let mut out = writer();
    out.i32(epoch);
    out.no_tagged_fields();
    out.finish()
}

pub(in crate::group::record) fn decode_epoch(value: &[u8]) -> Result<i32, RecordError> {
    let mut read = reader(value)?;
    let epoch = read.i32()?;
    read.tagged_fields(|_, _| ())?;
    Ok(epoch)
}

pub(in crate::group::record) fn encode_target(target: &TopicPartitions) -> Bytes {
    let mut out = writer();
    partitions::write(&mut out, target);
    out.no_tagged_fields();
    out.finish()
}

pub(in crate::group::record) fn decode_target(
    value: &[u8],
) -> Result<TopicPartitions, RecordError> {
    let mut read = reader(value)?;
    let target = partitions::read(&mut read)?;
    read.tagged_fields(|_, _| ())?;
    Ok(target)
}
