//! What all listeners of a node share.

use std::sync::{Arc, atomic::AtomicU64};

use super::{
    ConnectionQuotas, Limits, Service, budget::Budget, frame_buffers::FrameBuffers,
    metrics::NetMetrics,
};
use crate::{
    api::{Requests, Rooms},
    base::Pace,
    telemetry::Metrics,
};

/// The service, the limits, the budget.
pub struct Server<S> {
    pub(super) service: S,
    pub(super) limits: Limits,
    pub(super) budget: Budget,
    pub(super) buffers: Arc<FrameBuffers>,
    pub(super) metrics: NetMetrics,
    pub(super) quotas: Arc<ConnectionQuotas>,
    pub(super) paces: Paces,
    pub(super) next_connection_id: AtomicU64,
}

/// How often lines are told whose cause would repeat with every connection.
#[derive(Default)]
pub(super) struct Paces {
    /// Connections cannot be accepted.
    pub(super) accept: Pace,
    /// All connections are taken, and more wait.
    pub(super) full: Pace,
    /// An address has all connections that it may.
    pub(super) per_ip: Pace,
    /// Connections were closed for the sake of others.
    pub(super) lagging: Pace,
    /// Records could not be read.
    pub(super) unreadable: Pace,
}

impl Server<Requests> {
    /// The server of a node. It registers its metrics, so it is made once, for all listeners.
    pub fn of(rooms: Arc<Rooms>, quotas: Arc<ConnectionQuotas>) -> Arc<Self> {
        let limits = Limits::new(&rooms.config.net);
        let metrics = Arc::clone(&rooms.metrics);
        Self::new(Requests::new(rooms), limits, quotas, &metrics)
    }
}

impl<S: Service> Server<S> {
    pub fn new(
        service: S,
        limits: Limits,
        quotas: Arc<ConnectionQuotas>,
        metrics: &Metrics,
    ) -> Arc<Self> {
        let metrics = NetMetrics::register(metrics);
        Arc::new(Self {
            service,
            budget: Budget::new(&limits, metrics.inflight_bytes.clone()),
            quotas,
            buffers: FrameBuffers::new(limits.inflight_max_bytes),
            limits,
            metrics,
            paces: Paces::default(),
            next_connection_id: AtomicU64::new(0),
        })
    }
}
