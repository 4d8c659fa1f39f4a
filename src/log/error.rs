//! What can go wrong with a log, as decisions of the caller.

use std::{
    io,
    path::{Path, PathBuf},
};

use rustix::io::Errno;

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

    /// A stored batch is whole, and its records cannot be read: the log that it is in is not compacted.
    #[error("batch at offset {} of {} cannot be compacted: {reason}", .offset.0, segment.display())]
    Undecodable { offset: Offset, segment: PathBuf, reason: String },

    /// A producer's batch does not follow its last one (KIP-98).
    #[error("sequence {got} of producer {producer_id} does not follow {last}")]
    OutOfOrderSequence { producer_id: i64, last: i32, got: i32 },

    /// A newer session of the producer has been seen.
    #[error("epoch {got} of producer {producer_id} is older than {current}")]
    InvalidProducerEpoch { producer_id: i64, current: i16, got: i16 },

    /// The batch is larger than a segment may be.
    #[error("a batch of {size} bytes does not fit a segment of {max}")]
    RecordListTooLarge { size: usize, max: usize },

    /// The log was closed or deleted while the caller still held it. The client looks for the leader again.
    #[error("{} is closed", .0.display())]
    Closed(PathBuf),

    /// An earlier failure took the log, or its whole directory, offline until a restart.
    #[error("{} is offline since an earlier failure", .0.display())]
    Offline(PathBuf),

    /// Another process uses the directory, or it belongs to another node or cluster. The node must not start.
    #[error("{}: {reason}", path.display())]
    DirectoryRefused { path: PathBuf, reason: String },

    /// The disk failed. The log directory goes offline and stays so until a restart: after a failed
    /// fsync the page cache may lie (Rebello et al., ATC '20).
    ///
    /// `action` is a verb, such as "append to" or "fsync". `Display` leaves the cause to the chain.
    #[error("{action} {}", path.display())]
    Storage { action: &'static str, path: PathBuf, source: io::Error },
}

impl LogError {
    /// The disk is full, or what its owner may take of it.
    pub(super) fn is_want_of_room(&self) -> bool {
        let Self::Storage { source, .. } = self else { return false };
        matches!(Errno::from_io_error(source), Some(Errno::NOSPC | Errno::DQUOT))
    }

    /// For `map_err`: says what was done to which file.
    pub(super) fn storage(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Storage { action, path, source }
    }
}
