//! Runs the alert machine on `__klamm_alerts`, fed by the produce path's verdicts in the order of offsets.
//!
//! Each source partition's progress is kept as offsets of the group `klamm.transform.TOPIC.NAME`. What lies between it
//! and the first verdict after a start is evaluated again from the log, and what had been counted is passed over. It is
//! kept before a source's first record is stored: so counts are exact across a crash.

mod desk;
mod driver;
mod evaluate;
mod metrics;
mod progress;

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::{sync::mpsc, task::JoinHandle};

use self::desk::Desk;
use super::{GroupCoordinator, Notice};
use crate::{
    config::Config, plugin::PluginHost, quorum::Quorum, replica::ReplicaManager, telemetry::Metrics,
};

/// What the alert coordinator works with.
#[derive(Clone)]
pub struct AlertRooms {
    pub config: Arc<Config>,
    pub quorum: Arc<Quorum>,
    pub replicas: Arc<ReplicaManager>,
    pub plugins: Arc<PluginHost>,
    pub groups: Arc<GroupCoordinator>,
    pub metrics: Arc<Metrics>,
}

/// Counts and folds alerts, and keeps the progress of the plugins that raise them.
pub struct AlertCoordinator {
    desk: Mutex<Option<JoinHandle<()>>>,
}

impl AlertCoordinator {
    /// Begins with what a crash may have left uncounted, then takes notices until the intake's senders are gone.
    pub fn start(rooms: AlertRooms, notices: mpsc::Receiver<Notice>) -> Self {
        let desk = tokio::spawn(Desk::new(rooms).run(notices));
        Self { desk: Mutex::new(Some(desk)) }
    }

    /// Ends it. What is not logged yet is evaluated again at the next start.
    pub fn shutdown(&self) {
        if let Some(desk) = self.desk.lock().take() {
            desk.abort();
        }
    }
}
