//! What is told of partitions and log directories, looked up at each scrape.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Weak},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};

use super::ReplicaManager;
use crate::base::TopicName;

/// Looks at a manager for as long as it lives.
pub(super) struct ReplicaCollector(pub(super) Weak<ReplicaManager>);

/// Bytes of a topic's partitions here, summed up.
#[derive(Clone, Copy, Default)]
struct Sums {
    size: u64,
    produced: u64,
    fetched: u64,
}

impl fmt::Debug for ReplicaCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplicaCollector")
    }
}

impl Collector for ReplicaCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(replicas) = self.0.upgrade() else { return Ok(()) };
        let help = "Topics of the cluster";
        gauge(&mut encoder, "klamm_topics", help, replicas.topics() as i64)?;
        let help = "Partitions of this node that are not served: their log could not be opened, or its directory is offline";
        gauge(&mut encoder, "klamm_partitions_offline", help, replicas.offline() as i64)?;
        let help =
            "Compacted partitions that are not cleaned until a restart: a batch cannot be read";
        gauge(
            &mut encoder,
            "klamm_cleaner_uncleanable_partitions",
            help,
            replicas.uncleanable() as i64,
        )?;
        let help = "1 for a log directory that is offline until a restart";
        let dirs = replicas
            .dirs()
            .map(|(dir, is_online)| ([("dir", dir)], ConstGauge::new(i64::from(!is_online))));
        family(&mut encoder, "klamm_log_dir_offline", help, dirs)?;
        topics(&mut encoder, &replicas)
    }
}

fn topics(encoder: &mut DescriptorEncoder<'_>, replicas: &ReplicaManager) -> fmt::Result {
    let sums = sums(replicas);
    let label = |topic: &TopicName| [("topic", topic.to_string())];
    let sizes = sums.iter().map(|(topic, it)| (label(topic), ConstGauge::new(it.size as i64)));
    let help = "Size of a topic's segments on this node";
    family(encoder, "klamm_topic_size_bytes", help, sizes)?;
    let produced = sums.iter().map(|(topic, it)| (label(topic), ConstCounter::new(it.produced)));
    let help = "Bytes of record batches that were appended to a topic, since this node started";
    family(encoder, "klamm_topic_produced_bytes", help, produced)?;
    let fetched = sums.iter().map(|(topic, it)| (label(topic), ConstCounter::new(it.fetched)));
    let help =
        "Bytes of record batches that clients were sent from a topic, since this node started";
    family(encoder, "klamm_topic_fetched_bytes", help, fetched)
}

fn sums(replicas: &ReplicaManager) -> BTreeMap<TopicName, Sums> {
    let mut sums: BTreeMap<TopicName, Sums> = BTreeMap::new();
    for partition in replicas.partitions() {
        let sum = sums.entry(partition.topic_partition.topic.clone()).or_default();
        sum.size += partition.log().size_bytes();
        let (produced, fetched) = partition.bytes();
        sum.produced += produced;
        sum.fetched += fetched;
    }
    sums
}

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: i64) -> fmt::Result {
    let gauge = ConstGauge::new(value);
    gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
}

/// Metrics of one name; nothing is told of none.
fn family<M: EncodeMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    metrics: impl Iterator<Item = ([(&'static str, String); 1], M)>,
) -> fmt::Result {
    let mut metrics = metrics.peekable();
    let Some(kind) = metrics.peek().map(|(_, it)| it.metric_type()) else { return Ok(()) };
    let mut descriptor = encoder.encode_descriptor(name, help, None, kind)?;
    for (labels, metric) in metrics {
        metric.encode(descriptor.encode_family(&labels)?)?;
    }
    Ok(())
}

/// Registers it; the registry keeps no manager alive.
pub(super) fn register(metrics: &crate::telemetry::Metrics, replicas: &Arc<ReplicaManager>) {
    let collector = ReplicaCollector(Arc::downgrade(replicas));
    metrics.register(|it| it.register_collector(Box::new(collector)));
}
