//! Group commit: where records count only once they are on disk (`klamm.flush.mode=ack`, `flush.messages`), one fsync serves all
//! appends that came before it began.
//!
//! Rule: nobody who waits has a thread. A partition has one fsync under way at most, and appends go on meanwhile; the next one
//! serves them. Until then neither producers nor consumers are told of what they brought.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{Partition, hosted::cause, off_workers};
use crate::{base::Offset, log::LogError};

/// Before an fsync is tried again that could not begin, for want of a file.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// Bytes that were appended and are not committed, each with the offset after it.
#[derive(Debug, Default)]
pub(super) struct Hidden(VecDeque<(Offset, usize)>);

impl Hidden {
    pub(super) fn add(&mut self, end: Offset, bytes: usize) {
        self.0.push_back((end, bytes));
    }

    /// Takes out what ends at or before the high watermark; how many bytes that is.
    pub(super) fn take(&mut self, high_watermark: Offset) -> usize {
        let mut bytes = 0;
        while let Some(&(end, more)) = self.0.front()
            && end <= high_watermark
        {
            bytes += more;
            self.0.pop_front();
        }
        bytes
    }
}

impl Partition {
    /// Sees to it that somebody fsyncs what was appended, if it has to be.
    pub(super) fn flush_if_wanted(&self) {
        if !self.log().wants_flush() || self.is_flushing.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(partition) = self.me.upgrade() {
            tokio::spawn(async move { partition.flush_while_wanted().await });
        }
    }

    async fn flush_while_wanted(self: Arc<Self>) {
        loop {
            match self.flush_once().await {
                Ok(()) => {
                    self.advance_stored();
                    self.show_hidden();
                }
                Err(error) if is_over(&error) || !self.log().is_online() => {
                    self.fail();
                    return;
                }
                Err(error) => {
                    let cause = cause(&error);
                    tracing::warn!(partition = %self.topic_partition, %error, cause, "an fsync that producers wait for is tried again");
                    tokio::time::sleep(RETRY_AFTER).await;
                }
            }
            self.is_flushing.store(false, Ordering::Release);
            // An append that came while it was set has started nothing.
            if !self.log().wants_flush() || self.is_flushing.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    }

    async fn flush_once(&self) -> Result<(), LogError> {
        // Never closed: whoever waits here gets a turn.
        let fsyncs = self.fsyncs();
        let _turn = fsyncs.acquire().await;
        let log = Arc::clone(self.log());
        off_workers(move || log.commit()).await
    }
}

/// No further fsync will do.
fn is_over(error: &LogError) -> bool {
    matches!(error, LogError::Closed(_) | LogError::Offline(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_bytes_come_out_when_the_high_watermark_covers_them() {
        let mut hidden = Hidden::default();
        hidden.add(Offset(2), 10);
        hidden.add(Offset(5), 7);
        assert_eq!([1, 2, 4, 9].map(|it| hidden.take(Offset(it))), [0, 10, 0, 7]);
    }
}
