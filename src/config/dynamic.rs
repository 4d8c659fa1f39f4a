//! Settings that can be altered while a node runs (KIP-226), and a configuration with such alterations.
//!
//! Rule: what is altered here is what the node then works by. A setting that Kafka can alter and Klamm reads at its start alone
//! is refused like one that Kafka cannot alter.

use super::{
    Config, SETTINGS, Setting, TopicConfigs, nearest,
    topic::{self, ConfigType},
};

/// Settings of the node, besides defaults of topic configs, that are altered for the whole cluster or for one node.
const ALTERABLE: &[&str] = &[
    "log.cleaner.backoff.ms",
    "log.cleaner.dedupe.buffer.size",
    "log.cleaner.io.buffer.size",
    "log.cleaner.io.max.bytes.per.second",
    "log.cleaner.threads",
    "max.connection.creation.rate",
    "max.connections",
    "max.connections.per.ip",
    "max.connections.per.ip.overrides",
    "num.recovery.threads.per.data.dir",
    "producer.id.expiration.ms",
    "replica.alter.log.dirs.io.max.bytes.per.second",
];

/// What Kafka lets people alter and has no meaning here: accepted, as it is in a file.
const ALTERABLE_MEANINGLESS: &[&str] = &[
    "background.threads",
    "follower.replication.throttled.rate",
    "leader.replication.throttled.rate",
    "log.cleaner.io.buffer.load.factor",
    "metric.reporters",
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "transaction.partition.verification.enable",
];

/// What was altered of a node's settings, as the metadata log has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alterations<'a> {
    /// Of this node.
    pub node: Option<&'a TopicConfigs>,
    /// Of all nodes; a node's own are stronger.
    pub cluster: Option<&'a TopicConfigs>,
}

/// Kafka's words for how a setting can be altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateMode {
    ReadOnly,
    ClusterWide,
}

impl UpdateMode {
    /// As Kafka's documentation writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::ClusterWide => "cluster-wide",
        }
    }
}

/// How a setting can be altered. Of several settings of one topic config the strongest can be, as in Kafka:
/// `log.retention.ms` and not `log.retention.hours`.
pub fn update_mode(setting: &str) -> UpdateMode {
    let is_alterable = ALTERABLE.contains(&setting)
        || ALTERABLE_MEANINGLESS.contains(&setting)
        || default_of(setting).is_some();
    if is_alterable { UpdateMode::ClusterWide } else { UpdateMode::ReadOnly }
}

/// The topic config that a setting is the strongest default of.
fn default_of(setting: &str) -> Option<&'static topic::Definition> {
    topic::DEFINITIONS.iter().find(|it| it.synonyms.first().is_some_and(|it| it.name == setting))
}

fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|it| it.key == name)
}

/// A type of value that `APPEND` and `SUBTRACT` apply to.
pub fn is_list(name: &str) -> bool {
    let kind = default_of(name).map(|it| it.kind).or_else(|| setting(name).map(|it| it.kind));
    kind == Some(ConfigType::List)
}

/// The value of a setting as the file, or its default, has it; `None` for one without meaning here.
pub fn value_in_file(config: &Config, name: &str) -> Option<String> {
    if let Some(definition) = default_of(name) {
        let value = config.topic_defaults.get(definition.name).cloned();
        return Some(value.unwrap_or_else(|| definition.default.into()));
    }
    setting(name).map(|it| it.value(config))
}

/// Checks the settings that an alteration would leave.
///
/// # Errors
///
/// All names that cannot be altered; or what is wrong with the first bad value, in Kafka's words.
pub fn validate_alterations(configs: &TopicConfigs) -> Result<(), String> {
    let known =
        |name: &str| setting(name).is_some() || topic::broker_default_names().any(|it| it == name);
    let read_only: Vec<&str> = configs
        .keys()
        .map(String::as_str)
        .filter(|it| update_mode(it) == UpdateMode::ReadOnly)
        .collect();
    if let Some(unknown) = read_only.iter().find(|it| !known(it)) {
        let names = SETTINGS.iter().map(|it| it.key).chain(topic::broker_default_names());
        let meant = nearest(unknown, names);
        let meant = meant.map(|it| format!("; did you mean {it}?")).unwrap_or_default();
        return Err(format!("Unknown broker config name: {unknown}{meant}"));
    }
    if !read_only.is_empty() {
        let names = read_only.join(", ");
        return Err(format!("Cannot update these configs dynamically: Set({names})"));
    }
    configs.iter().try_for_each(|(name, value)| validate_value(name, value))
}

/// Checks what an alteration would leave of one resource as a whole.
///
/// # Errors
///
/// What contradicts each other, in Kafka's words.
pub fn validate_alterations_together(configs: &TopicConfigs) -> Result<(), String> {
    let value = |name: &str| configs.get(name).map_or("", |it| it.trim());
    let keeps_all_out = value("max.connections.per.ip").parse() == Ok(0)
        && value("max.connections.per.ip.overrides").is_empty();
    if keeps_all_out {
        return Err("max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set.".into());
    }
    Ok(())
}

fn validate_value(name: &str, value: &str) -> Result<(), String> {
    if let Some(definition) = default_of(name) {
        return topic::validate_as(definition, name, value);
    }
    let Some(setting) = setting(name) else { return Ok(()) };
    (setting.read)(&mut Config::default(), value)
        .map_err(|reason| format!("Invalid value {value} for configuration {name}: {reason}"))
}

impl Config {
    /// This configuration as the metadata log has altered it. A value that is bad all the same, since a newer or older
    /// version stored it, is passed over.
    #[must_use]
    pub fn altered(&self, alterations: Alterations<'_>) -> Self {
        let mut altered = self.clone();
        let weakest_first = [alterations.cluster, alterations.node];
        for (name, value) in weakest_first.into_iter().flatten().flatten() {
            altered.alter(name, value);
        }
        altered
    }

    fn alter(&mut self, name: &str, value: &str) {
        if update_mode(name) == UpdateMode::ReadOnly || validate_value(name, value).is_err() {
            return;
        }
        if let Some(definition) = default_of(name) {
            self.topic_defaults.insert(definition.name.into(), value.into());
        } else if let Some(setting) = setting(name) {
            // It was read a moment ago.
            let _ = (setting.read)(self, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::of_kafka::MEANINGLESS;

    fn configs(pairs: &[(&str, &str)]) -> TopicConfigs {
        pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn every_name_that_can_be_altered_is_known() {
        assert!(ALTERABLE.iter().all(|it| setting(it).is_some()));
        for name in ALTERABLE_MEANINGLESS {
            assert!(MEANINGLESS.contains(name), "{name} has a meaning: is it read live?");
        }
    }

    #[test]
    fn the_nodes_alteration_wins_over_the_clusters_and_both_over_the_file() {
        let mut config = Config::default();
        config.topic_defaults.insert("retention.ms".into(), "1".into());
        let cluster = configs(&[("log.retention.ms", "2"), ("log.segment.bytes", "2000000")]);
        let node = configs(&[("log.retention.ms", "3"), ("producer.id.expiration.ms", "9")]);
        let retention = |it: &Config| it.topic_defaults.get("retention.ms").cloned();
        let both = Alterations { node: Some(&node), cluster: Some(&cluster) };
        let altered = config.altered(both);
        assert_eq!(retention(&altered).as_deref(), Some("3"));
        assert_eq!(altered.topic_defaults["segment.bytes"], "2000000");
        assert_eq!(altered.log.producer_id_expiration_ms, 9);
        let altered = config.altered(Alterations { node: None, ..both });
        assert_eq!(retention(&altered).as_deref(), Some("2"));
        let altered = config.altered(Alterations::default());
        assert_eq!(retention(&altered).as_deref(), Some("1"));
    }

    #[test]
    fn what_a_node_reads_at_its_start_alone_cannot_be_altered() {
        let refused = |pairs: &[(&str, &str)]| validate_alterations(&configs(pairs)).unwrap_err();
        assert_eq!(
            refused(&[("node.id", "2"), ("log.retention.hours", "2"), ("log.retention.ms", "1")]),
            "Cannot update these configs dynamically: Set(log.retention.hours, node.id)"
        );
        assert_eq!(
            refused(&[("log.retention.mss", "2")]),
            "Unknown broker config name: log.retention.mss; did you mean log.retention.ms?"
        );
        assert_eq!(
            refused(&[("log.retention.ms", "soon")]),
            "Invalid value soon for configuration log.retention.ms: Not a number of type LONG"
        );
        assert!(refused(&[("producer.id.expiration.ms", "0")]).contains("from 1 to"));
        let good = [("num.io.threads", "4"), ("min.insync.replicas", "2")];
        assert_eq!(validate_alterations(&configs(&good)), Ok(()));
    }

    #[test]
    fn connections_are_limited_while_the_node_runs_and_never_for_everyone() {
        let good = [
            ("max.connections", "5"),
            ("max.connections.per.ip", "0"),
            ("max.connections.per.ip.overrides", "10.0.0.1:3"),
            ("max.connection.creation.rate", "7"),
            ("log.cleaner.threads", "3"),
            ("num.recovery.threads.per.data.dir", "3"),
        ];
        let node = configs(&good);
        assert_eq!(validate_alterations(&node), Ok(()));
        assert_eq!(validate_alterations_together(&node), Ok(()));
        let altered = Config::default().altered(Alterations { node: Some(&node), cluster: None });
        let net = &altered.net;
        assert_eq!((net.max_connections, net.max_connections_per_ip), (5, 0));
        assert_eq!((net.max_connection_creation_rate, altered.log.cleaner.threads), (7, 3));
        assert_eq!(net.max_connections_per_ip_overrides, [([10, 0, 0, 1].into(), 3)]);
        let refused = validate_alterations_together(&configs(&good[..2])).unwrap_err();
        assert!(refused.contains("can be set to zero only if"), "{refused}");
        let bad = [("max.connections", "0"), ("max.connections.per.ip.overrides", "host:3")];
        assert!(bad.iter().all(|it| validate_alterations(&configs(&[*it])).is_err()));
    }

    #[test]
    fn a_bad_value_of_another_version_is_passed_over() {
        let node = configs(&[("log.retention.ms", "soon"), ("node.id", "7"), ("what", "ever")]);
        let altered = Config::default().altered(Alterations { node: Some(&node), cluster: None });
        assert_eq!(altered.node.id, Config::default().node.id);
        assert!(altered.topic_defaults.is_empty());
    }
}
