//! Holds answers back until the records that they stand on are committed.
//!
//! Answers leave in the order in which they were decided, also those without records of their own: a read waits
//! until what it has seen is committed.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::driver::{Reply, Unavailable};
use crate::{
    base::Offset,
    replica::{Acks, Partition},
};

/// Decisions whose records are not committed yet. A machine that is further ahead waits.
const HELD_MAX: usize = 1_024;

/// As Kafka's `offsets.commit.timeout.ms`.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(5);

struct Held {
    /// `None` when nothing was appended.
    last_offset: Option<Offset>,
    replies: Vec<Reply>,
}

pub(crate) struct CommitQueue {
    held: mpsc::Sender<Held>,
    /// Resolves when an append is known to be lost.
    pub(crate) lost: oneshot::Receiver<()>,
    task: JoinHandle<()>,
}

impl CommitQueue {
    pub(crate) fn start(partition: Arc<Partition>) -> Self {
        let (held, queue) = mpsc::channel(HELD_MAX);
        let (report, lost) = oneshot::channel();
        let task = tokio::spawn(release(partition, queue, report));
        Self { held, lost, task }
    }

    pub(crate) async fn hold(&self, last_offset: Option<Offset>, replies: Vec<Reply>) {
        if replies.is_empty() && last_offset.is_none() {
            return;
        }
        // The other end ends with this one only.
        let _ = self.held.send(Held { last_offset, replies }).await;
    }

    /// Answers what is held and ends.
    pub(crate) async fn finish(self) {
        drop(self.held);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "a coordinator's commit queue has ended");
        }
    }
}

async fn release(
    partition: Arc<Partition>,
    mut queue: mpsc::Receiver<Held>,
    lose: oneshot::Sender<()>,
) {
    let mut lose = Some(lose);
    while let Some(Held { last_offset, replies }) = queue.recv().await {
        let result = match (&lose, last_offset) {
            // What follows a lost append was decided from a state that is not there.
            (None, _) => Err(Unavailable::Lost),
            (Some(_), None) => Ok(()),
            (Some(_), Some(offset)) => committed(&partition, offset).await,
        };
        if result.is_err()
            && let Some(lose) = lose.take()
        {
            let _ = lose.send(());
        }
        for reply in replies {
            reply(result);
        }
    }
}

async fn committed(partition: &Partition, offset: Offset) -> Result<(), Unavailable> {
    let committed = partition.committed(offset, Acks::All, COMMIT_TIMEOUT).await;
    committed.map_err(|error| {
        let partition = &partition.topic_partition;
        tracing::warn!(%partition, %error, "a coordinator's records were not committed");
        Unavailable::Lost
    })
}
