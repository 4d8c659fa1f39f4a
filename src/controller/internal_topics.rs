//! The topics that Klamm makes for itself, with their configs.

use super::NewTopic;
use crate::{base::TopicId, config::Config};

/// Where group coordinators keep groups and offsets.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// The log of alerts.
pub const ALERTS_TOPIC: &str = "__klamm_alerts";

/// `__consumer_offsets`, to be created with [`super::create_topics`]. `id` is fresh.
pub fn offsets_topic(config: &Config, id: TopicId) -> NewTopic {
    let partitions = config.group.offsets_topic_num_partitions;
    internal(
        OFFSETS_TOPIC,
        id,
        partitions,
        &[("compression.type", "producer"), ("segment.bytes", "104857600")],
    )
}

/// `__klamm_alerts`: one partition, because one leader counts an alert. `id` is fresh.
///
/// For a day a sink that was away is told of an alert's whole life, and not only of its end.
pub fn alerts_topic(id: TopicId) -> NewTopic {
    let configs = [("min.compaction.lag.ms", "86400000"), ("segment.bytes", "104857600")];
    internal(ALERTS_TOPIC, id, 1, &configs)
}

/// Compacted and nothing else, so that its records are never deleted by time or size.
fn internal(name: &str, id: TopicId, partitions: i32, configs: &[(&str, &str)]) -> NewTopic {
    let compacted = [("cleanup.policy", "compact")];
    NewTopic {
        name: name.into(),
        id,
        partitions,
        replication_factor: -1,
        assignments: Vec::new(),
        configs: compacted
            .iter()
            .chain(configs)
            .map(|&(name, value)| (name.into(), Some(value.into())))
            .collect(),
    }
}
