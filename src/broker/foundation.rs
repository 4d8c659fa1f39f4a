//! The rooms that stand before a node serves anything, and what is built on them.

use std::sync::Arc;

use super::publish::Publisher;
use crate::{
    api::{Telemetry, Throttling},
    config::Config,
    coordinator::{AlertIntake, AlertRooms, DeadLetterTopics, GroupCoordinator},
    net::ConnectionQuotas,
    plugin::PluginHost,
    produce::Produce,
    quorum::Quorum,
    replica::ReplicaManager,
    telemetry::Metrics,
};

/// Handles of the rooms that all others work with.
pub(super) struct Foundation {
    pub(super) config: Arc<Config>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) replicas: Arc<ReplicaManager>,
    pub(super) quorum: Arc<Quorum>,
    pub(super) plugins: Arc<PluginHost>,
}

impl Foundation {
    pub(super) fn produce(&self, intake: AlertIntake) -> Arc<Produce> {
        let dead_letters = DeadLetterTopics::new(self.quorum.clone(), self.config.clone());
        Arc::new(Produce::new(
            &self.config,
            self.replicas.clone(),
            self.plugins.clone(),
            intake,
            Some(dead_letters),
            &self.metrics,
        ))
    }

    pub(super) fn publisher(
        &self,
        produce: &Arc<Produce>,
        throttling: &Arc<Throttling>,
        telemetry: &Arc<Telemetry>,
        connections: &Arc<ConnectionQuotas>,
    ) -> Publisher {
        Publisher {
            config: self.config.clone(),
            replicas: self.replicas.clone(),
            plugins: self.plugins.clone(),
            produce: produce.clone(),
            throttling: throttling.clone(),
            telemetry: telemetry.clone(),
            connections: connections.clone(),
        }
    }

    pub(super) fn groups(&self) -> Arc<GroupCoordinator> {
        GroupCoordinator::start(
            self.config.clone(),
            self.quorum.clone(),
            self.replicas.clone(),
            self.plugins.clone(),
            &self.metrics,
        )
    }

    pub(super) fn alert_rooms(&self, groups: &Arc<GroupCoordinator>) -> AlertRooms {
        AlertRooms {
            config: self.config.clone(),
            quorum: self.quorum.clone(),
            replicas: self.replicas.clone(),
            plugins: self.plugins.clone(),
            groups: groups.clone(),
            metrics: self.metrics.clone(),
        }
    }
}
