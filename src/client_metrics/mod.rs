//! Metrics that clients push (KIP-714): who is subscribed to what, who may push when, what a push says. It is given the time.
//!
//! Rule: clients choose names and numbers, and this room how many of them are remembered.

mod instances;
mod otlp;
mod protobuf;
mod series;

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use uuid::Uuid;

use self::{instances::Instances, series::AllSeries};
pub use self::{
    instances::{Client, Granted, Push, PushError},
    series::{Series, SeriesKey},
};
use crate::{
    config::{TopicConfigs, client_metrics::Subscription},
    metadata::{ConfigResource, MetadataImage},
    wire::record_batch::{Compression, CompressionError, decompress},
};

/// Subscriptions, the clients that asked for theirs, and what they pushed.
pub struct ClientMetrics {
    /// `telemetry.max.bytes`: of a push, as it is sent and as it expands.
    max_bytes: usize,
    subscriptions: ArcSwap<Subscriptions>,
    instances: Mutex<Instances>,
    series: Mutex<AllSeries>,
}

type Configs = Vec<(String, Arc<TopicConfigs>)>;

/// Those of an image.
#[derive(Default)]
struct Subscriptions {
    /// Changes when they do.
    version: u64,
    configs: Configs,
    all: Vec<Subscription>,
}

impl ClientMetrics {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            subscriptions: ArcSwap::default(),
            instances: Mutex::default(),
            series: Mutex::default(),
        }
    }

    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Takes the subscriptions of an image.
    pub fn apply(&self, image: &MetadataImage) {
        let configs = configs(image);
        if self.subscriptions.load().configs != configs {
            // What does not read was stored by another version.
            let all = configs.iter().filter_map(|(_, it)| Subscription::read(it).ok()).collect();
            let version = image.version;
            self.subscriptions.store(Arc::new(Subscriptions { version, configs, all }));
        }
    }

    /// What a client is to push.
    ///
    /// # Errors
    ///
    /// It asks too soon.
    pub fn subscribe(&self, client: &Client<'_>, now_ms: i64) -> Result<Granted, PushError> {
        let subscriptions = self.subscriptions.load();
        let mut instances = self.instances.lock();
        instances.of(client, &subscriptions, now_ms).subscribe(now_ms)
    }

    /// Takes what a client pushes.
    ///
    /// # Errors
    ///
    /// Every variant of [`PushError`].
    pub fn push(&self, client: &Client<'_>, push: &Push<'_>, now_ms: i64) -> Result<(), PushError> {
        {
            let subscriptions = self.subscriptions.load();
            let mut instances = self.instances.lock();
            let instance = instances.of(client, &subscriptions, now_ms);
            instance.check_push(push, self.max_bytes, now_ms)?;
        }
        let outcome = self.take(client, push, now_ms);
        if outcome.is_err() {
            self.instances.lock().failed(client.instance_id, PushError::Unreadable);
        }
        outcome
    }

    /// The newest values, of clients that still push.
    pub fn for_each_series(&self, now_ms: i64, act: impl FnMut(&SeriesKey, &Series)) {
        self.series.lock().for_each(now_ms, act);
    }

    /// Values that were not kept because there were too many series, or their names were too long.
    pub fn dropped(&self) -> u64 {
        self.series.lock().dropped()
    }

    fn take(&self, client: &Client<'_>, push: &Push<'_>, now_ms: i64) -> Result<(), PushError> {
        if push.metrics.is_empty() {
            return Ok(());
        }
        let codec = Compression::from_bits(push.compression_type.into())
            .map_err(|_| PushError::UnsupportedCompression)?;
        let plain =
            decompress(codec, push.metrics, self.max_bytes).map_err(|error| match error {
                CompressionError::TooLarge(_) => PushError::TooLarge,
                CompressionError::Corrupt { .. } => PushError::Unreadable,
            })?;
        // Read once before anything of it is kept.
        otlp::each_point(&plain, &mut drop).ok_or(PushError::Unreadable)?;
        let mut series = self.series.lock();
        series.make_room(now_ms);
        let mut take = |point| series.take(client, point, now_ms);
        otlp::each_point(&plain, &mut take).ok_or(PushError::Unreadable)
    }
}

fn configs(image: &MetadataImage) -> Configs {
    let of_subscription = |(resource, configs): (&ConfigResource, &Arc<TopicConfigs>)| {
        let ConfigResource::ClientMetrics(name) = resource else { return None };
        Some((name.clone(), Arc::clone(configs)))
    };
    image.configs.iter().filter_map(of_subscription).collect()
}

/// Ids that Kafka keeps for itself: 0 and 1.
pub fn is_reserved(id: Uuid) -> bool {
    id.as_u128() <= 1
}

#[cfg(test)]
mod tests;
