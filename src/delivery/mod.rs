//! Reads `__klamm_alerts` and posts to sinks: Alertmanager, webhooks, the log.
//!
//! Rule: at least once, in order, and across restarts. Each sink's progress is a committed offset of the group
//! `klamm.delivery.SINK`; a sink that fails is tried again and holds up no other.

mod alertmanager;
mod http_post;
mod metrics;
mod reader;
mod sink;
mod worker;

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::{metrics::DeliveryMetrics, sink::Sink, worker::Worker};
use crate::{
    config::Config,
    coordinator::{AlertRooms, GroupCoordinator},
    replica::ReplicaManager,
    telemetry::Metrics,
};

/// What deliveries work with.
#[derive(Clone)]
pub struct DeliveryRooms {
    pub config: Arc<Config>,
    pub replicas: Arc<ReplicaManager>,
    pub groups: Arc<GroupCoordinator>,
    pub metrics: Arc<Metrics>,
}

impl From<&AlertRooms> for DeliveryRooms {
    fn from(rooms: &AlertRooms) -> Self {
        Self {
            config: rooms.config.clone(),
            replicas: rooms.replicas.clone(),
            groups: rooms.groups.clone(),
            metrics: rooms.metrics.clone(),
        }
    }
}

/// Delivers to every configured sink until `stop`.
pub async fn run(rooms: DeliveryRooms, stop: CancellationToken) {
    let mut workers = JoinSet::new();
    let metrics = DeliveryMetrics::register(&rooms.metrics);
    for (name, config) in &rooms.config.alert.sinks {
        let worker = Worker::new(rooms.clone(), name, Sink::new(config), metrics.of(name));
        let stop = stop.clone();
        workers.spawn(async move { stop.run_until_cancelled(worker.run()).await });
    }
    while let Some(ended) = workers.join_next().await {
        if let Err(error) = ended {
            tracing::error!(%error, "the delivery of alerts to a sink has ended");
        }
    }
}
