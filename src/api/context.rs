//! What every handler gets: the rooms, and who asks.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::watch;

use super::{
    fetch::FetchSessions,
    telemetry::{ClientDetails, Telemetry},
    throttling::{ClientThrottle, Mute, Throttling},
};
use crate::{
    config::Config,
    coordinator::{AlertIntake, GroupCoordinator},
    plugin::PluginHost,
    produce::Produce,
    quorum::{ProducerIds, Quorum},
    replica::{ReadShare, ReplicaManager},
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
    /// What the answer holds of a common budget until it is written.
    pub held: Held,
}

/// A share of the read budget that a handler leaves for its answer.
#[derive(Clone, Debug, Default)]
pub struct Held(Arc<OnceLock<Arc<ReadShare>>>);

impl Held {
    pub(super) fn keep(&self, share: Arc<ReadShare>) {
        // An answer is of one read.
        let _ = self.0.set(share);
    }

    /// The frame, which holds the share until its last copy is dropped.
    pub(super) fn within(&self, frame: Bytes) -> Bytes {
        match self.0.get() {
            Some(share) => Bytes::from_owner(Sharing { frame, _share: Arc::clone(share) }),
            None => frame,
        }
    }
}

struct Sharing {
    frame: Bytes,
    _share: Arc<ReadShare>,
}

impl AsRef<[u8]> for Sharing {
    fn as_ref(&self) -> &[u8] {
        &self.frame
    }
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
            held: Held::default(),
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
            held: Held::default(),
        }
    }
}
