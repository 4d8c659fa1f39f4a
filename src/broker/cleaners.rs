//! Tasks that clean logs: as many at work as `log.cleaner.threads` says, which can be altered while they run.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{config::CLEANER_THREADS_MAX, replica::ReplicaManager};

/// However short `log.cleaner.backoff.ms` is.
const REST_MIN: Duration = Duration::from_millis(10);

/// Starts as many as there may ever be: those that have no turn wait for one.
pub(super) fn start(
    replicas: &Arc<ReplicaManager>,
    stop: &CancellationToken,
) -> Vec<JoinHandle<()>> {
    let clean = |index| {
        let turn = replicas.cleaner_threads();
        tokio::spawn(clean(replicas.clone(), index, turn, stop.clone()))
    };
    (0..CLEANER_THREADS_MAX).map(clean).collect()
}

/// Cleans one compacted log after the other until `stop`, while it is one of `threads`; rests for `log.cleaner.backoff.ms` when none
/// is worth it.
async fn clean(
    replicas: Arc<ReplicaManager>,
    index: usize,
    mut threads: watch::Receiver<usize>,
    stop: CancellationToken,
) {
    let mut rest = Duration::ZERO;
    while timeout(rest, stop.cancelled()).await.is_err() {
        let turn = threads.wait_for(|it| *it > index);
        if !matches!(stop.run_until_cancelled(turn).await, Some(Ok(_))) {
            return;
        }
        let goes_on = clean_one(&replicas).await;
        rest = if goes_on { Duration::ZERO } else { replicas.cleaner_backoff().max(REST_MIN) };
    }
}

async fn clean_one(replicas: &Arc<ReplicaManager>) -> bool {
    let replicas = replicas.clone();
    let cleaned = tokio::task::spawn_blocking(move || replicas.clean()).await;
    cleaned.unwrap_or_else(|_| {
        tracing::error!("cleaning a log has panicked");
        false
    })
}
