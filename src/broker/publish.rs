//! Takes each new metadata image to the rooms that act on it, one at a time, and tells who waits for it.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use super::plugin_uses;
use crate::{
    api::{Telemetry, Throttling},
    config::Config,
    metadata::MetadataImage,
    net::ConnectionQuotas,
    plugin::PluginHost,
    produce::Produce,
    replica::ReplicaManager,
    telemetry::Metrics,
};

/// After this time the logs that could not be opened are tried again: space was freed perhaps, or files were closed. Each further
/// wait is twice as long, since a try may read a whole segment.
const OFFLINE_RETRY: Duration = Duration::from_secs(10);

/// The longest wait.
const OFFLINE_RETRY_MAX: Duration = Duration::from_mins(5);

/// The rooms that act on images.
pub(super) struct Publisher {
    pub(super) config: Arc<Config>,
    pub(super) replicas: Arc<ReplicaManager>,
    pub(super) plugins: Arc<PluginHost>,
    pub(super) produce: Arc<Produce>,
    pub(super) throttling: Arc<Throttling>,
    pub(super) telemetry: Arc<Telemetry>,
    pub(super) connections: Arc<ConnectionQuotas>,
}

impl Publisher {
    /// Applies images until `stop`. `published` then holds the version that this node acts by.
    pub(super) async fn run(
        self,
        mut images: watch::Receiver<Arc<MetadataImage>>,
        published: watch::Sender<u64>,
        stop: CancellationToken,
    ) {
        let mut retry = OFFLINE_RETRY;
        loop {
            let image = images.borrow_and_update().clone();
            if image.version > *published.borrow() {
                let version = image.version;
                self.publish(image).await;
                published.send_replace(version);
            }
            tokio::select! {
                () = stop.cancelled() => return,
                changed = images.changed() => if changed.is_err() { return },
                () = sleep(retry), if self.replicas.has_offline() => {
                    let image = images.borrow().clone();
                    self.open_logs(image).await;
                    let is_done = !self.replicas.has_offline();
                    retry = if is_done { OFFLINE_RETRY } else { (retry * 2).min(OFFLINE_RETRY_MAX) };
                }
            }
        }
    }

    async fn publish(&self, image: Arc<MetadataImage>) {
        self.plugins.set_uses(plugin_uses::of(&self.config, &image));
        self.throttling.apply(&image);
        self.telemetry.apply(&image);
        self.open_logs(image.clone()).await;
        self.connections.apply(&self.replicas.settings().net, &image);
        self.produce.forget_removed();
    }

    /// Opening logs is disk work.
    async fn open_logs(&self, image: Arc<MetadataImage>) {
        let (version, replicas) = (image.version, self.replicas.clone());
        if tokio::task::spawn_blocking(move || replicas.apply(&image)).await.is_err() {
            tracing::error!(version, "applying the metadata image has panicked");
        }
    }
}

/// Does a chore for every log now and then, until `stop`.
pub(super) async fn now_and_then(
    name: &'static str,
    replicas: Arc<ReplicaManager>,
    every: Duration,
    chore: fn(&ReplicaManager),
    stop: CancellationToken,
) {
    while tokio::time::timeout(every, stop.cancelled()).await.is_err() {
        let replicas = replicas.clone();
        if tokio::task::spawn_blocking(move || chore(&replicas)).await.is_err() {
            tracing::error!(chore = name, "a chore for all logs has panicked");
        }
    }
}

/// Carries out one move of a replica to another log directory after the other until `stop`.
pub(super) async fn move_replicas(replicas: Arc<ReplicaManager>, stop: CancellationToken) {
    loop {
        let carried_out = {
            let replicas = replicas.clone();
            tokio::task::spawn_blocking(move || replicas.carry_out_move()).await
        };
        match carried_out {
            Ok(true) if !stop.is_cancelled() => {}
            Ok(_) => tokio::select! {
                () = stop.cancelled() => return,
                () = replicas.move_asked() => {}
            },
            Err(_) => tracing::error!("moving a replica has panicked"),
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
