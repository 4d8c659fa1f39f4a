//! Takes each new metadata image to the rooms that act on it, one at a time, and tells who waits for it.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    metadata::MetadataImage, produce::Produce, replica::ReplicaManager, telemetry::Metrics,
};

/// After this time the logs that could not be opened are tried again: space was freed perhaps, or files were closed. Each further
/// wait is twice as long, since a try may read a whole segment.
const OFFLINE_RETRY: Duration = Duration::from_secs(10);

/// The longest wait.
const OFFLINE_RETRY_MAX: Duration = Duration::from_mins(5);

/// Applies images until `stop`. `published` then holds the version that this node acts by.
pub(super) async fn run(
    mut images: watch::Receiver<Arc<MetadataImage>>,
    replicas: Arc<ReplicaManager>,
    produce: Arc<Produce>,
    published: watch::Sender<u64>,
    stop: CancellationToken,
) {
    let mut retry = OFFLINE_RETRY;
    loop {
        let image = images.borrow_and_update().clone();
        if image.version > *published.borrow() {
            let version = image.version;
            apply(&replicas, image).await;
            produce.forget_removed();
            published.send_replace(version);
        }
        tokio::select! {
            () = stop.cancelled() => return,
            changed = images.changed() => if changed.is_err() { return },
            () = sleep(retry), if replicas.has_offline() => {
                let image = images.borrow().clone();
                apply(&replicas, image).await;
                retry = if replicas.has_offline() { (retry * 2).min(OFFLINE_RETRY_MAX) } else { OFFLINE_RETRY };
            }
        }
    }
}

/// Opening logs is disk work.
async fn apply(replicas: &Arc<ReplicaManager>, image: Arc<MetadataImage>) {
    let (version, replicas) = (image.version, replicas.clone());
    if tokio::task::spawn_blocking(move || replicas.apply(&image)).await.is_err() {
        tracing::error!(version, "applying the metadata image has panicked");
    }
}

/// Applies retention to every log now and then, until `stop`.
pub(super) async fn retain(
    replicas: Arc<ReplicaManager>,
    every: Duration,
    stop: CancellationToken,
) {
    while tokio::time::timeout(every, stop.cancelled()).await.is_err() {
        let replicas = replicas.clone();
        if tokio::task::spawn_blocking(move || replicas.retain()).await.is_err() {
            tracing::error!("applying retention has panicked");
        }
    }
}

/// Registers what is told of the process itself.
pub(super) fn register_process_metrics(metrics: &Metrics, node_id: i32) {
    let info = prometheus_client::metrics::info::Info::new(vec![
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("node_id", node_id.to_string()),
    ]);
    metrics.register(|it| it.register("klamm_build", "The running version", info));
}
