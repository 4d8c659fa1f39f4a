//! What is checked of a batch before anything else looks at it. Pure.

use bytes::Bytes;

use super::ProduceError;
use crate::{
    base::TimestampMs,
    config::TopicConfig,
    log::is_derived,
    wire::record_batch::{Batch, TimestampType, split},
};

/// The one batch of a partition's produce data, checked as a leader checks a client's batch.
pub(crate) fn admit(
    records: Bytes,
    config: &TopicConfig,
    now: TimestampMs,
) -> Result<Batch, ProduceError> {
    let mut batches = split(records)?;
    let (Some(batch), true) = (batches.pop(), batches.is_empty()) else {
        return Err(ProduceError::InvalidRequest("a partition's data must be exactly one batch"));
    };
    let (size, max) = (batch.bytes.len(), config.max_message_bytes);
    if size > max {
        return Err(ProduceError::TooLarge { size, max });
    }
    may_come_from_a_client(&batch)?;
    batch.validate()?;
    timestamps_are_near(&batch, config, now)?;
    Ok(batch)
}

fn may_come_from_a_client(batch: &Batch) -> Result<(), ProduceError> {
    if batch.header.attributes.is_control() {
        return Err(ProduceError::InvalidRequest("clients may not write control batches"));
    }
    if batch.header.attributes.is_transactional() {
        return Err(ProduceError::Transactional);
    }
    match batch.header.producer_id {
        Some(id) if is_derived(id) => {
            Err(ProduceError::InvalidRequest("the producer id was never given to a client"))
        }
        _ => Ok(()),
    }
}

/// `message.timestamp.before.max.ms` and `message.timestamp.after.max.ms` (KIP-937), on what the header tells.
fn timestamps_are_near(
    batch: &Batch,
    config: &TopicConfig,
    now: TimestampMs,
) -> Result<(), ProduceError> {
    if config.timestamp_type == TimestampType::LogAppendTime {
        return Ok(());
    }
    let (first, last) = (batch.header.base_timestamp, batch.header.max_timestamp);
    // −1 stands for no timestamp.
    if first.0 >= 0 && now.0.saturating_sub(first.0) > config.timestamp_before_max_ms {
        return Err(ProduceError::InvalidTimestamp(first.0));
    }
    if last.0.saturating_sub(now.0) > config.timestamp_after_max_ms {
        return Err(ProduceError::InvalidTimestamp(last.0));
    }
    Ok(())
}
