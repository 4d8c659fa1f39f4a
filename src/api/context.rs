//! What every handler gets: the rooms, and who asks.

use std::{net::IpAddr, sync::Arc};

use crate::{
    config::Config, coordinator::GroupCoordinator, plugin::PluginHost, produce::Produce,
    quorum::Quorum, replica::ReplicaManager, telemetry::Metrics, wire::header::RequestHeader,
};

/// Handles of the rooms below, shared by all connections.
pub struct Rooms {
    pub config: Arc<Config>,
    pub metrics: Arc<Metrics>,
    pub quorum: Arc<Quorum>,
    pub replicas: Arc<ReplicaManager>,
    pub plugins: Arc<PluginHost>,
    pub produce: Arc<Produce>,
    pub groups: Arc<GroupCoordinator>,
}

/// One request, besides its body.
#[derive(Clone, Debug)]
pub struct Context {
    pub api_version: i16,
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
}

impl Client {
    pub(super) fn context(&self, header: &RequestHeader) -> Context {
        Context {
            api_version: header.api_version,
            client_id: header.client_id().into(),
            client_host: self.host,
            connection_id: self.connection_id,
            listener: Arc::clone(&self.listener),
        }
    }
}
