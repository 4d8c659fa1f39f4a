//! Clients that asked for their subscriptions: what each was told, and when it may come again.

use std::collections::HashMap;

use uuid::Uuid;

use super::Subscriptions;
use crate::{
    base::kafka_uuid,
    config::client_metrics::{ClientAttribute, DEFAULT_INTERVAL_MS},
};

/// Clients at a time, as in Kafka; the one that was silent for longest makes room.
const INSTANCES_MAX: usize = 16_384;

/// A client that is silent for so long, or for three of its intervals, is forgotten.
const EXPIRY_MS: i64 = 60_000;

/// What all metrics are subscribed to by.
const ALL: &str = "*";

/// Who asks or pushes.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    pub instance_id: Uuid,
    pub client_id: &'a str,
    pub software_name: &'a str,
    pub software_version: &'a str,
    pub address: &'a str,
    pub port: u16,
}

/// What a client is told to push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    pub subscription_id: i32,
    /// Prefixes of names; `*` for all, none for nothing.
    pub metrics: Vec<String>,
    pub interval_ms: i32,
}

/// A push, besides who it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Push<'a> {
    pub subscription_id: i32,
    /// The client's last.
    pub terminating: bool,
    pub compression_type: i8,
    pub metrics: &'a [u8],
}

/// Why a client is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    #[error("the client has said before that it ends")]
    Terminated,
    #[error("the push interval is not over")]
    TooSoon,
    #[error("the subscription is another one by now")]
    UnknownSubscription,
    #[error("the compression type is none of Kafka's")]
    UnsupportedCompression,
    #[error("the metrics are larger than telemetry.max.bytes allows")]
    TooLarge,
    #[error("the metrics do not decompress, or are no metrics of OpenTelemetry")]
    Unreadable,
}

/// A client that asked.
pub(super) struct Instance {
    granted: Granted,
    /// Of the subscriptions that it was granted by.
    version: u64,
    last_get_ms: Option<i64>,
    last_push_ms: Option<i64>,
    last_seen_ms: i64,
    terminated: bool,
    last_error: Option<PushError>,
}

impl Instance {
    fn new(client: &Client<'_>, subscriptions: &Subscriptions, now_ms: i64) -> Self {
        Self {
            granted: grant(client, subscriptions),
            version: subscriptions.version,
            last_get_ms: None,
            last_push_ms: None,
            last_seen_ms: now_ms,
            terminated: false,
            last_error: None,
        }
    }

    /// A client whose push was refused for what it did not know may ask anew at once.
    pub(super) fn subscribe(&mut self, now_ms: i64) -> Result<Granted, PushError> {
        let last = self.last_get_ms.max(self.last_push_ms);
        let may_ask_anew = matches!(
            self.last_error,
            Some(PushError::UnknownSubscription | PushError::UnsupportedCompression)
        );
        if !self.is_due(last, now_ms) && !may_ask_anew {
            return Err(PushError::TooSoon);
        }
        (self.last_get_ms, self.last_error) = (Some(now_ms), None);
        Ok(self.granted.clone())
    }

    /// In Kafka's order. The first push after asking may come at once: clients jitter it.
    pub(super) fn check_push(
        &mut self,
        push: &Push<'_>,
        max_bytes: usize,
        now_ms: i64,
    ) -> Result<(), PushError> {
        let checked = self.checked(push, max_bytes, now_ms);
        self.terminated = push.terminating;
        self.last_error = checked.err();
        checked
    }

    fn checked(&mut self, push: &Push<'_>, max_bytes: usize, now_ms: i64) -> Result<(), PushError> {
        if self.terminated {
            return Err(PushError::Terminated);
        }
        if self.last_get_ms > self.last_push_ms || self.is_due(self.last_push_ms, now_ms) {
            self.last_push_ms = Some(now_ms);
        } else if !push.terminating {
            return Err(PushError::TooSoon);
        }
        if push.subscription_id != self.granted.subscription_id {
            return Err(PushError::UnknownSubscription);
        }
        if !(0..=4).contains(&push.compression_type) {
            return Err(PushError::UnsupportedCompression);
        }
        if push.metrics.len() > max_bytes {
            return Err(PushError::TooLarge);
        }
        Ok(())
    }

    fn is_due(&self, last_ms: Option<i64>, now_ms: i64) -> bool {
        last_ms.is_none_or(|it| now_ms - it >= i64::from(self.granted.interval_ms))
    }

    fn is_expired(&self, now_ms: i64) -> bool {
        now_ms - self.last_seen_ms > EXPIRY_MS.max(3 * i64::from(self.granted.interval_ms))
    }
}

#[derive(Default)]
pub(super) struct Instances(HashMap<Uuid, Instance>);

impl Instances {
    /// The client, as the subscriptions of today have it.
    pub(super) fn of(
        &mut self,
        client: &Client<'_>,
        subscriptions: &Subscriptions,
        now_ms: i64,
    ) -> &mut Instance {
        let id = client.instance_id;
        let is_stale = |it: &Instance| it.version != subscriptions.version || it.is_expired(now_ms);
        if self.0.get(&id).is_some_and(is_stale) {
            self.0.remove(&id);
        }
        if !self.0.contains_key(&id) && self.0.len() >= INSTANCES_MAX {
            self.make_room(now_ms);
        }
        let instance =
            self.0.entry(id).or_insert_with(|| Instance::new(client, subscriptions, now_ms));
        instance.last_seen_ms = now_ms;
        instance
    }

    pub(super) fn failed(&mut self, id: Uuid, error: PushError) {
        if let Some(instance) = self.0.get_mut(&id) {
            instance.last_error = Some(error);
        }
    }

    /// Half of them go, if none has expired: it is seldom done.
    fn make_room(&mut self, now_ms: i64) {
        self.0.retain(|_, it| !it.is_expired(now_ms));
        if self.0.len() < INSTANCES_MAX {
            return;
        }
        let mut seen: Vec<i64> = self.0.values().map(|it| it.last_seen_ms).collect();
        let middle = seen.len() / 2;
        let (_, &mut median, _) = seen.select_nth_unstable(middle);
        let mut to_forget = middle;
        self.0.retain(|_, it| {
            let is_old = it.last_seen_ms <= median && to_forget > 0;
            to_forget -= usize::from(is_old);
            !is_old
        });
    }
}

/// All that is meant for the client, at the shortest of the intervals.
fn grant(client: &Client<'_>, subscriptions: &Subscriptions) -> Granted {
    let (id, port) = (kafka_uuid::encode(client.instance_id), client.port.to_string());
    let attribute = |it| match it {
        ClientAttribute::InstanceId => id.as_str(),
        ClientAttribute::Id => client.client_id,
        ClientAttribute::SoftwareName => client.software_name,
        ClientAttribute::SoftwareVersion => client.software_version,
        ClientAttribute::SourceAddress => client.address,
        ClientAttribute::SourcePort => port.as_str(),
    };
    let meant: Vec<_> = subscriptions.all.iter().filter(|it| it.is_for(attribute)).collect();
    let interval_ms = meant.iter().map(|it| it.interval_ms).min();
    let interval_ms = interval_ms.map_or(DEFAULT_INTERVAL_MS, |it| it.min(DEFAULT_INTERVAL_MS));
    let mut metrics: Vec<String> = meant.iter().flat_map(|it| it.metrics.clone()).collect();
    if metrics.iter().any(|it| it == ALL) {
        metrics = vec![ALL.into()];
    }
    metrics.sort();
    metrics.dedup();
    let subscription_id = subscription_id(&metrics, interval_ms, client.instance_id);
    Granted { subscription_id, metrics, interval_ms }
}

/// Another one for each client and for each set of metrics, as in Kafka: a checksum of what was granted, and the client's id.
fn subscription_id(metrics: &[String], interval_ms: i32, id: Uuid) -> i32 {
    let crc = crc32c::crc32c(format!("[{}]{interval_ms}", metrics.join(", ")).as_bytes());
    let (high, low) = id.as_u64_pair();
    let folded = high ^ low;
    crc as i32 ^ ((folded >> 32) as i32 ^ folded as i32)
}
