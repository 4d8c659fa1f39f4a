//! What can go wrong with a log, as decisions of the caller.

use std::{io, path::PathBuf};

use crate::base::Offset;

/// A failed operation on a partition's log. A variant is a decision the caller can take; `api::error`
/// turns each into a Kafka code.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The reader asked for what the log does not hold. The client resets its position.
    #[error("offset {} is outside {}..={}", .asked.0, .log_start.0, .log_end.0)]
    OffsetOutOfRange { asked: Offset, log_start: Offset, log_end: Offset },

    /// A stored batch fails its checks.
    #[error("batch at offset {} of {} is corrupt", .offset.0, segment.display())]
    CorruptBatch { offset: Offset, segment: PathBuf },

    /// A producer's batch does not follow its last one (KIP-98).
    #[error("sequence {got} of producer {producer_id} does not follow {last}")]
    OutOfOrderSequence { producer_id: i64, last: i32, got: i32 },

    /// A newer session of the producer has been seen.
    #[error("epoch {got} of producer {producer_id} is older than {current}")]
    InvalidProducerEpoch { producer_id: i64, current: i16, got: i16 },

    /// The batch is larger than a segment may be.
    #[error("a batch of {size} bytes does not fit a segment of {max}")]
    RecordListTooLarge { size: usize, max: usize },

    /// The disk failed. The log directory goes offline and stays so until a restart: after a failed
    /// fsync the page cache may lie (Rebello et al., ATC '20).
    ///
    /// `action` is a verb, such as "append to" or "fsync". `Display` leaves the cause to the chain.
    #[error("{action} {}", path.display())]
    Storage { action: &'static str, path: PathBuf, source: io::Error },
}
