//! What every handler gets: the rooms, and who asks.

use std::{net::IpAddr, sync::Arc, time::Duration};

use tokio::sync::watch;

use super::{
    fetch::FetchSessions,
    telemetry::{ClientDetails, Telemetry},
    throttling::{Busy, ClientThrottle, Mute, Throttling},
};
use crate::{
    config::Config,
    coordinator::{AlertIntake, GroupCoordinator},
    plugin::PluginHost,
    produce::Produce,
    quorum::{ProducerIds, Quorum},
    replica::ReplicaManager,
    telemetry::Metrics,
    wire::header::RequestHeader,
};

/// Handles of the rooms below, shared by all connections.
pub struct Rooms {
    pub config: Arc<Config>,
    pub metrics: Arc<Metrics>,
    pub quorum: Arc<Quorum>,
    pub producer_ids: ProducerIds,
    pub replicas: Arc<ReplicaManager>,
    pub plugins: Arc<PluginHost>,
    pub fetch_sessions: Arc<FetchSessions>,
    pub produce: Arc<Produce>,
    pub groups: Arc<GroupCoordinator>,
    pub alerts: AlertIntake,
    pub published: Published,
    pub throttling: Arc<Throttling>,
    pub telemetry: Arc<Telemetry>,
}

/// Tells which metadata image every room works with: one that is committed reaches them a little later.
#[derive(Clone, Debug)]
pub struct Published(watch::Receiver<u64>);

impl Published {
    /// Follows the versions that the publisher reports.
    pub fn new(versions: watch::Receiver<u64>) -> Self {
        Self(versions)
    }

    /// Waits until every room works with `version` or a later one; `false` when that takes longer than `timeout` or the
    /// publisher has stopped.
    pub async fn reached(&self, version: u64, timeout: Duration) -> bool {
        let mut versions = self.0.clone();
        let reached = versions.wait_for(|&it| it >= version);
        matches!(tokio::time::timeout(timeout, reached).await, Ok(Ok(_)))
    }
}

/// One request, besides its body.
#[derive(Clone, Debug)]
pub struct Context {
    pub api_version: i16,
    /// `None` while nobody has a quota.
    pub throttle: Option<Arc<ClientThrottle>>,
    pub details: Arc<ClientDetails>,
    /// `client.id`; empty when there is none.
    pub client_id: Arc<str>,
    pub client_host: IpAddr,
    /// Unique in this process; the order of producers without an id is kept by connection.
    pub connection_id: u64,
    /// Name of the listener that the client came in by; its answers name brokers by that listener's addresses.
    pub listener: Arc<str>,
}

#[cfg(test)]
impl Context {
    /// A request of that version from this machine.
    pub(super) fn of_version(api_version: i16) -> Self {
        Self {
            api_version,
            throttle: None,
            details: Arc::default(),
            client_id: "client".into(),
            client_host: std::net::Ipv4Addr::LOCALHOST.into(),
            connection_id: 1,
            listener: "PLAINTEXT".into(),
        }
    }
}

/// The connection that a request came by.
#[derive(Clone, Debug)]
pub struct Client {
    pub host: IpAddr,
    /// Unique in this process.
    pub connection_id: u64,
    /// Name of the listener.
    pub listener: Arc<str>,
    /// Until when no further request is read.
    pub mute: Mute,
    /// The time that its requests take.
    pub busy: Busy,
    pub details: Arc<ClientDetails>,
}

impl Client {
    pub(super) fn context(&self, header: &RequestHeader) -> Context {
        Context {
            api_version: header.api_version,
            throttle: None,
            details: Arc::clone(&self.details),
            client_id: header.client_id().into(),
            client_host: self.host,
            connection_id: self.connection_id,
            listener: Arc::clone(&self.listener),
        }
    }
}
