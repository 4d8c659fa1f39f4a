//! Whether a log directory can be trusted; shared by its logs.
//!
//! Rule: after the first failed fsync it is offline until a restart, because nobody knows what the page cache still holds; as in
//! Kafka so it is after any other failure of the disk, a full one included, and the other directories go on (KIP-112).

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::io::Errno;
use tokio::sync::Notify;

use super::LogError;
use crate::base::{Pace, TimestampMs};

#[derive(Debug, Default)]
pub struct Health {
    offline: AtomicBool,
    /// Tells once that it went offline.
    changed: Notify,
    /// Without a file to spare every append is refused.
    refusals: Pace,
}

impl Health {
    pub fn is_online(&self) -> bool {
        !self.offline.load(Ordering::Acquire)
    }

    /// Waits until the directory is offline.
    pub async fn went_offline(&self) {
        let changed = self.changed.notified();
        if self.is_online() {
            changed.await;
        }
    }

    /// As [`Health::failed`]. Where the directory stays in use, an append that was refused is told now and then: nothing of it is left.
    pub(super) fn append_failed(&self, error: LogError, now: TimestampMs) -> LogError {
        let failure = self.failed(error);
        if let LogError::Storage { source: cause, .. } = &failure
            && self.is_online()
            && self.refusals.is_due(now)
        {
            tracing::error!(%failure, %cause, "refused an append: its producer is told KAFKA_STORAGE_ERROR");
        }
        failure
    }

    /// Takes the directory offline if a failure is the disk's (KIP-112); to be asked of whatever fails while logs are in use.
    pub(super) fn failed(&self, error: LogError) -> LogError {
        if let LogError::Storage { source, .. } = &error
            && is_of_the_disk(source)
        {
            self.take_offline(&error);
        }
        error
    }

    /// Likewise, of what is tried again and has left nothing in doubt: a disk that is full may have room then.
    pub(super) fn failed_this_time(&self, error: LogError) -> LogError {
        if let LogError::Storage { source, .. } = &error
            && is_of_the_device(source)
        {
            self.take_offline(&error);
        }
        error
    }

    /// Stops all use of the directory until a restart, and says why.
    pub fn take_offline(&self, reason: &LogError) {
        if !self.offline.swap(true, Ordering::AcqRel) {
            let cause = std::error::Error::source(reason).map(ToString::to_string);
            tracing::error!(%reason, cause, "took a log directory offline; restart after the disk was looked at");
            self.changed.notify_waiters();
        }
    }
}

/// Not so where the process, or the system, has as many files open as it may; nor where a file was taken away by hand, or is
/// shorter than it was, which reads say by no number of the system's.
fn is_of_the_disk(error: &io::Error) -> bool {
    let ours = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::INTR, Errno::NOENT];
    error.kind() == io::ErrorKind::WriteZero
        || Errno::from_io_error(error).is_some_and(|it| !ours.contains(&it))
}

/// Whatever was asked of it: nothing of ours and no want of room is its cause.
pub(super) fn is_of_the_device(error: &io::Error) -> bool {
    let broken = [Errno::IO, Errno::NXIO, Errno::NODEV, Errno::ROFS];
    Errno::from_io_error(error).is_some_and(|it| broken.contains(&it))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use futures_util::FutureExt as _;

    use super::*;

    fn failure(errno: Errno) -> LogError {
        LogError::storage("fsync", Path::new("x"))(errno.into())
    }

    #[test]
    fn a_failure_of_the_disk_takes_a_directory_offline_and_a_want_of_files_does_not() {
        for errno in [Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::FBIG, Errno::ROFS] {
            let health = Health::default();
            for ours in [Errno::MFILE, Errno::NFILE, Errno::NOENT] {
                health.failed(failure(ours));
                assert!(health.is_online());
            }
            assert_eq!(health.went_offline().now_or_never(), None);
            health.failed(failure(errno));
            assert!(!health.is_online());
            assert_eq!(health.went_offline().now_or_never(), Some(()));
        }
    }

    #[test]
    fn a_full_disk_at_opening_is_tried_again() {
        let health = Health::default();
        health.failed_this_time(failure(Errno::NOSPC));
        assert!(health.is_online());
        health.failed_this_time(failure(Errno::IO));
        assert!(!health.is_online());
    }
}
