//! Whether a log directory can be trusted; shared by its logs.
//!
//! Rule: after the first failed fsync it is offline until a restart, because nobody knows what the page cache still holds.

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
    /// A full disk refuses every append.
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

    /// Tells of an append that the disk refused, now and then. Nothing of it is left: the directory stays in use.
    pub(super) fn tell_failure(&self, failure: &LogError, now: TimestampMs) {
        let LogError::Storage { source: cause, .. } = failure else { return };
        if self.refusals.is_due(now) {
            tracing::error!(%failure, %cause, "refused an append: its producer is told KAFKA_STORAGE_ERROR");
        }
    }

    /// Takes the directory offline for an fsync that failed; not for one that never began, because no file could be opened.
    pub(super) fn fsync_failed(&self, error: LogError) -> LogError {
        if !matches!(&error, LogError::Storage { source, .. } if is_want_of_files(source)) {
            self.take_offline(&error);
        }
        error
    }

    /// Stops all appends to the directory until a restart, and says why.
    fn take_offline(&self, reason: &LogError) {
        if !self.offline.swap(true, Ordering::AcqRel) {
            let cause = std::error::Error::source(reason).map(ToString::to_string);
            tracing::error!(%reason, cause, "took a log directory offline; restart after the disk was looked at");
            self.changed.notify_waiters();
        }
    }
}

/// The process, or the system, has as many files open as it may.
fn is_want_of_files(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_failed_fsync_takes_a_directory_offline_and_a_want_of_files_does_not() {
        let failure = |errno: Errno| LogError::storage("fsync", Path::new("x"))(errno.into());
        let health = Health::default();
        for errno in [Errno::MFILE, Errno::NFILE] {
            health.fsync_failed(failure(errno));
            assert!(health.is_online());
        }
        assert_eq!(health.went_offline().now_or_never(), None);
        health.fsync_failed(failure(Errno::IO));
        assert!(!health.is_online());
        assert_eq!(health.went_offline().now_or_never(), Some(()));
    }
}
