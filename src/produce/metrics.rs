//! What the produce path counts.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
};

use super::{RefusedRecord, hooks::Observer};
use crate::{base::TopicPartition, telemetry::Metrics};

/// Client ids that are counted by name; those above share one label, since clients choose their ids.
const CLIENTS_MAX: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ClientLabels {
    topic: String,
    client_id: String,
}

/// Counters of the produce path.
pub(crate) struct ProduceMetrics {
    strays: Family<ClientLabels, Counter>,
    clients: Mutex<HashSet<(String, String)>>,
}

impl ProduceMetrics {
    pub(crate) fn new(metrics: &Metrics) -> Self {
        let strays = Family::default();
        let help = "Keyed records that klamm.partitioner.mode=observe found in another partition than the plugin's";
        metrics.register(|it| it.register("klamm_partitioner_mismatches", help, strays.clone()));
        Self { strays, clients: Mutex::default() }
    }

    pub(crate) fn observer(&self, client_id: Arc<str>) -> impl Observer + '_ {
        ClientObserver { metrics: self, client_id }
    }

    fn labels(&self, topic: &str, client_id: &str) -> ClientLabels {
        let mut clients = self.clients.lock();
        let named = (topic.to_owned(), client_id.to_owned());
        let known =
            clients.contains(&named) || clients.len() < CLIENTS_MAX && clients.insert(named);
        let client_id = if known { client_id } else { "other" };
        ClientLabels { topic: topic.to_owned(), client_id: client_id.to_owned() }
    }
}

struct ClientObserver<'a> {
    metrics: &'a ProduceMetrics,
    client_id: Arc<str>,
}

impl Observer for ClientObserver<'_> {
    fn observed(&self, partition: &TopicPartition, records: usize, strays: &[RefusedRecord]) {
        let Some(first) = strays.first() else { return };
        let labels = self.metrics.labels(partition.topic.as_str(), &self.client_id);
        let counter = self.metrics.strays.get_or_create(&labels).clone();
        let before = counter.inc_by(strays.len() as u64);
        // A sample: the first, then about one in a thousand.
        if before / 1_000 != (before + strays.len() as u64) / 1_000 || before == 0 {
            tracing::info!(
                %partition, client_id = %self.client_id, records, strays = strays.len(),
                "partitioner would place record {} elsewhere: {}", first.index, first.reason
            );
        }
    }
}
