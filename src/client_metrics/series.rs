//! What clients pushed, as series: a bounded number, of bounded names.

use std::collections::BTreeMap;

use super::{instances::Client, otlp::Point};
use crate::base::kafka_uuid;

/// Series of all clients together; a Java client has some hundred. At most some 12 MB.
const SERIES_MAX: usize = 10_000;

/// Longest name, client id and text of attributes.
pub(super) const TEXT_BYTES_MAX: usize = 256;

/// A series that was not pushed for so long is told no more: two of the longest intervals.
const EXPIRY_MS: i64 = 7_200_000;

/// What makes a series one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesKey {
    /// As the client names it: `org.apache.kafka.producer.record.send.rate`.
    pub metric: String,
    pub client_id: String,
    /// As Kafka writes it.
    pub client_instance_id: String,
    /// `key=value`, with commas between.
    pub attributes: String,
}

/// Its newest value; of deltas the sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series {
    pub value: f64,
    last_ms: i64,
}

#[derive(Default)]
pub(super) struct AllSeries {
    all: BTreeMap<SeriesKey, Series>,
    dropped: u64,
}

impl AllSeries {
    /// To be called before each push: what is past makes room.
    pub(super) fn make_room(&mut self, now_ms: i64) {
        if self.all.len() >= SERIES_MAX {
            self.expire(now_ms);
        }
    }

    pub(super) fn take(&mut self, client: &Client<'_>, point: Point, now_ms: i64) {
        let key = SeriesKey {
            metric: point.name,
            client_id: client.client_id.into(),
            client_instance_id: kafka_uuid::encode(client.instance_id),
            attributes: point.attributes,
        };
        let texts = [&key.metric, &key.client_id, &key.attributes];
        if texts.iter().any(|it| it.len() > TEXT_BYTES_MAX) || !self.has_room_for(&key) {
            self.dropped += 1;
            return;
        }
        let series = self.all.entry(key).or_insert(Series { value: 0.0, last_ms: now_ms });
        let before = if point.is_delta { series.value } else { 0.0 };
        *series = Series { value: before + point.value, last_ms: now_ms };
    }

    fn has_room_for(&self, key: &SeriesKey) -> bool {
        self.all.len() < SERIES_MAX || self.all.contains_key(key)
    }

    fn expire(&mut self, now_ms: i64) {
        self.all.retain(|_, it| now_ms - it.last_ms <= EXPIRY_MS);
    }

    pub(super) fn for_each(&mut self, now_ms: i64, mut act: impl FnMut(&SeriesKey, &Series)) {
        self.expire(now_ms);
        self.all.iter().for_each(|(key, series)| act(key, series));
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}
