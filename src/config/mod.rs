//! Typed settings. Their names, in the file and everywhere a person sees them, are Kafka's own; Klamm's begin
//! with `klamm.`. A field is its key less its room's prefix, in snake case.

mod address;
mod alert;
mod check;
pub mod client_metrics;
mod consumer_group;
mod dynamic;
#[cfg(test)]
mod edited;
mod flatten;
pub mod group;
mod load;
mod of_kafka;
mod pattern;
mod places;
mod print;
mod problem;
mod setting;
mod settings;
mod sink_url;
pub mod topic;
mod value;

use std::{collections::BTreeMap, net::IpAddr, path::PathBuf, time::Duration};

pub use alert::{AlertConfig, AlertPolicy, FOR_COUNT_MAX, SinkConfig, SinkKind};
pub use consumer_group::{ConsumerGroupConfig, MigrationPolicy, RebalanceProtocol};
pub use dynamic::{
    Alterations, UpdateMode, is_list, update_mode, validate_alterations,
    validate_alterations_together, value_in_file,
};
#[cfg(test)]
pub(crate) use edited::edited;
pub use load::Loaded;
pub use pattern::{Pattern, Patterns};
pub use print::print_defaults;
pub use problem::{Problem, Problems, nearest};
pub use setting::Setting;
pub use settings::{CLEANER_THREADS_MAX, SETTINGS};
pub use topic::{
    CleanupPolicy, FlushMode, PartitionerMode, TopicConfig, TopicConfigs, TransformsMode,
};
pub(crate) use value::read_number;

use crate::base::{BrokerId, PluginName};

/// All settings of a node, checked as a whole.
#[derive(Clone, Debug)]
pub struct Config {
    pub node: NodeConfig,
    pub net: NetConfig,
    pub log: LogConfig,
    pub group: GroupConfig,
    pub plugin: PluginConfig,
    pub alert: AlertConfig,
    pub quota: QuotaConfig,
    pub telemetry: TelemetryConfig,
    /// Broker-wide values of topic configs, by the topic config's name (`retention.ms`), as set in the file.
    pub topic_defaults: BTreeMap<String, String>,
    /// `[klamm.topics."PATTERN"]`: topic configs below a topic's own.
    pub topic_patterns: Patterns,
    /// `[klamm.groups."PATTERN"]`: group configs below a group's own.
    pub group_patterns: Patterns,
}

#[derive(Clone, Debug)]
pub struct NodeConfig {
    pub id: BrokerId,
    /// `process.roles`
    pub process_roles: Vec<String>,
    /// `controller.quorum.voters`
    pub controller_quorum_voters: Vec<String>,
    /// `controller.listener.names`
    pub controller_listener_names: Vec<String>,
    /// `inter.broker.listener.name`
    pub inter_broker_listener_name: Option<String>,
    /// `broker.rack`
    pub rack: Option<String>,
    /// `auto.create.topics.enable`
    pub auto_create_topics_enable: bool,
    /// `num.partitions`
    pub num_partitions: i32,
    /// `default.replication.factor`
    pub default_replication_factor: i16,
    /// `delete.topic.enable`
    pub delete_topic_enable: bool,
    /// `fetch.max.bytes`
    pub fetch_max_bytes: usize,
    /// `max.incremental.fetch.session.cache.slots`
    pub max_incremental_fetch_session_cache_slots: usize,
    /// `max.request.partition.size.limit`
    pub max_request_partition_size_limit: usize,
}

/// A named listener with its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Such as `PLAINTEXT`.
    pub name: String,
    pub host: String,
    /// 0 picks a free one.
    pub port: u16,
}

#[derive(Clone, Debug)]
pub struct NetConfig {
    pub listeners: Vec<Listener>,
    /// Empty: the listeners as bound.
    pub advertised_listeners: Vec<Listener>,
    /// `listener.security.protocol.map`, as `NAME:PROTOCOL`.
    pub security_protocol_map: Vec<String>,
    /// `socket.request.max.bytes`
    pub request_max_bytes: usize,
    /// `connections.max.idle.ms`
    pub connections_max_idle_ms: u64,
    /// `max.connections`
    pub max_connections: usize,
    /// `max.connections.per.ip`
    pub max_connections_per_ip: usize,
    /// `max.connections.per.ip.overrides`, as `ADDRESS:COUNT`.
    pub max_connections_per_ip_overrides: Vec<(IpAddr, usize)>,
    /// `max.connection.creation.rate`, a second; the largest number is no limit.
    pub max_connection_creation_rate: i32,
    /// `klamm.http.listen`, as `host:port`.
    pub http_listen: String,
    /// `klamm.request.inflight.max.bytes`: request bytes that all connections together may hold.
    pub request_inflight_max_bytes: usize,
}

#[derive(Clone, Debug)]
pub struct LogConfig {
    /// `log.dirs`; the first also holds the metadata log and the plugins' compile cache.
    pub dirs: Vec<PathBuf>,
    /// `log.retention.check.interval.ms`
    pub retention_check_interval_ms: u64,
    /// `log.flush.scheduler.interval.ms`
    pub flush_scheduler_interval_ms: u64,
    /// `log.flush.offset.checkpoint.interval.ms`
    pub flush_offset_checkpoint_interval_ms: u64,
    /// `num.recovery.threads.per.data.dir`
    pub recovery_threads_per_dir: usize,
    /// `producer.id.expiration.ms`
    pub producer_id_expiration_ms: i64,
    /// `replica.alter.log.dirs.io.max.bytes.per.second`
    pub alter_dirs_max_bytes_per_second: u64,
    /// `klamm.decompressed.max.bytes`
    pub decompressed_max_bytes: usize,
    pub cleaner: CleanerConfig,
}

/// `log.cleaner.*`
#[derive(Clone, Debug)]
pub struct CleanerConfig {
    /// `log.cleaner.enable`
    pub enable: bool,
    /// `log.cleaner.threads`
    pub threads: usize,
    /// `log.cleaner.backoff.ms`
    pub backoff_ms: u64,
    /// `log.cleaner.dedupe.buffer.size`, of all threads.
    pub dedupe_buffer_bytes: usize,
    /// `log.cleaner.io.buffer.size`, of all threads.
    pub io_buffer_bytes: usize,
    /// `log.cleaner.io.max.bytes.per.second`
    pub io_max_bytes_per_second: f64,
}

#[derive(Clone, Debug)]
pub struct GroupConfig {
    /// `group.coordinator.rebalance.protocols`
    pub rebalance_protocols: Vec<RebalanceProtocol>,
    pub consumer: ConsumerGroupConfig,
    pub min_session_timeout_ms: i32,
    pub max_session_timeout_ms: i32,
    pub initial_rebalance_delay_ms: u64,
    pub max_size: usize,
    /// `offsets.topic.num.partitions`
    pub offsets_topic_num_partitions: i32,
    /// `offsets.retention.minutes`
    pub offsets_retention_minutes: i64,
    /// `offsets.retention.check.interval.ms`
    pub offsets_retention_check_interval_ms: u64,
    /// `offset.metadata.max.bytes`
    pub offset_metadata_max_bytes: usize,
    /// `klamm.assignor.protocols`: classic protocol names that a plugin may answer for.
    pub assignor_protocols: Vec<String>,
    /// `klamm.assignor.rebalance.interval.ms`: a reload or a changed `klamm.assignor` rebalances a group at most this often.
    pub assignor_rebalance_interval_ms: u64,
}

#[derive(Clone, Debug)]
pub struct PluginConfig {
    /// `klamm.plugin.dir`
    pub dir: PathBuf,
    /// `klamm.plugin.call.timeout.ms`
    pub call_timeout_ms: u64,
    /// `klamm.plugin.load.timeout.ms`
    pub load_timeout_ms: u64,
    /// `klamm.plugin.memory.max.bytes`
    pub memory_max_bytes: usize,
    /// `klamm.plugin.file.max.bytes`
    pub file_max_bytes: u64,
    /// `klamm.plugin.threads`; 0: as many as cores, at least 2.
    pub threads: usize,
    /// `klamm.plugin.rescan.interval.ms`: how often the folder is looked at, besides when the system tells of a change.
    pub rescan_interval_ms: u64,
}

#[derive(Clone, Debug)]
pub struct TelemetryConfig {
    /// `telemetry.max.bytes`
    pub max_bytes: usize,
}

/// Windows that what clients use is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaWindow {
    /// So many are remembered, the one that is under way included.
    pub num: u32,
    pub size_seconds: u32,
}

impl QuotaWindow {
    pub fn size_ms(self) -> i64 {
        i64::from(self.size_seconds) * 1_000
    }
}

#[derive(Clone, Debug)]
pub struct QuotaConfig {
    /// `quota.window.num`, `quota.window.size.seconds`
    pub window: QuotaWindow,
    /// `controller.quota.window.num`, `controller.quota.window.size.seconds`
    pub controller_window: QuotaWindow,
}

impl Default for NetConfig {
    fn default() -> Self {
        Self {
            listeners: vec![Listener {
                name: "PLAINTEXT".into(),
                host: "127.0.0.1".into(),
                port: 9092,
            }],
            advertised_listeners: Vec::new(),
            security_protocol_map: Vec::new(),
            request_max_bytes: 100 * 1024 * 1024,
            connections_max_idle_ms: 600_000,
            max_connections: i32::MAX as usize,
            max_connections_per_ip: i32::MAX as usize,
            max_connections_per_ip_overrides: Vec::new(),
            max_connection_creation_rate: i32::MAX,
            http_listen: "127.0.0.1:9644".into(),
            request_inflight_max_bytes: 256 * 1024 * 1024,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            node: NodeConfig {
                id: BrokerId(1),
                process_roles: vec!["broker".into(), "controller".into()],
                controller_quorum_voters: Vec::new(),
                controller_listener_names: Vec::new(),
                inter_broker_listener_name: None,
                rack: None,
                auto_create_topics_enable: true,
                num_partitions: 1,
                default_replication_factor: 1,
                delete_topic_enable: true,
                fetch_max_bytes: 55 * 1024 * 1024,
                max_incremental_fetch_session_cache_slots: 1_000,
                max_request_partition_size_limit: 2_000,
            },
            net: NetConfig::default(),
            log: LogConfig::default(),
            group: GroupConfig {
                rebalance_protocols: vec![RebalanceProtocol::Classic, RebalanceProtocol::Consumer],
                consumer: ConsumerGroupConfig::default(),
                min_session_timeout_ms: 6_000,
                max_session_timeout_ms: 1_800_000,
                initial_rebalance_delay_ms: 3_000,
                max_size: 10_000,
                offsets_topic_num_partitions: 50,
                offsets_retention_minutes: 10_080,
                offsets_retention_check_interval_ms: 600_000,
                offset_metadata_max_bytes: 4_096,
                assignor_protocols: [
                    "range",
                    "roundrobin",
                    "sticky",
                    "cooperative-sticky",
                    "RoundRobinAssigner",
                ]
                .map(String::from)
                .into(),
                assignor_rebalance_interval_ms: 10_000,
            },
            plugin: PluginConfig {
                dir: "plugins".into(),
                call_timeout_ms: 100,
                load_timeout_ms: 5_000,
                memory_max_bytes: 64 * 1024 * 1024,
                file_max_bytes: 64 * 1024 * 1024,
                threads: 0,
                rescan_interval_ms: 1_000,
            },
            alert: AlertConfig::default(),
            telemetry: TelemetryConfig { max_bytes: 1024 * 1024 },
            quota: QuotaConfig {
                window: QuotaWindow { num: 11, size_seconds: 1 },
                controller_window: QuotaWindow { num: 11, size_seconds: 1 },
            },
            topic_defaults: BTreeMap::new(),
            topic_patterns: Patterns::default(),
            group_patterns: Patterns::default(),
        }
    }
}

impl Default for CleanerConfig {
    fn default() -> Self {
        Self {
            enable: true,
            threads: 1,
            backoff_ms: 15_000,
            dedupe_buffer_bytes: 32 * 1024 * 1024,
            io_buffer_bytes: 512 * 1024,
            io_max_bytes_per_second: f64::MAX,
        }
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            dirs: vec!["data".into()],
            retention_check_interval_ms: 300_000,
            flush_scheduler_interval_ms: i64::MAX as u64,
            flush_offset_checkpoint_interval_ms: 60_000,
            recovery_threads_per_dir: 2,
            producer_id_expiration_ms: 86_400_000,
            alter_dirs_max_bytes_per_second: i64::MAX as u64,
            decompressed_max_bytes: 64 * 1024 * 1024,
            cleaner: CleanerConfig::default(),
        }
    }
}

impl Config {
    /// The listeners for clients: all but the controllers' own.
    pub fn broker_listeners(&self) -> impl Iterator<Item = &Listener> {
        let controllers = &self.node.controller_listener_names;
        self.net
            .listeners
            .iter()
            .filter(|it| controllers.iter().all(|name| !name.eq_ignore_ascii_case(&it.name)))
    }

    /// The protocol that a listener of this name speaks.
    pub fn security_protocol<'a>(&'a self, listener: &'a str) -> &'a str {
        self.net
            .security_protocol_map
            .iter()
            .filter_map(|it| it.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case(listener))
            .map_or(listener, |(_, protocol)| protocol)
    }
}

impl GroupConfig {
    pub fn initial_rebalance_delay(&self) -> Duration {
        Duration::from_millis(self.initial_rebalance_delay_ms)
    }

    /// Whether groups may speak a protocol.
    pub fn serves(&self, protocol: RebalanceProtocol) -> bool {
        self.rebalance_protocols.contains(&protocol)
    }
}

/// The assignor that `klamm.assignor` names in a group's configs: its own first, then the patterns'.
pub fn group_assignor(
    own: Option<&BTreeMap<String, String>>,
    patterns: &Patterns,
    group_id: &str,
) -> Option<PluginName> {
    let key = "klamm.assignor";
    own.and_then(|it| it.get(key))
        .or_else(|| patterns.find(group_id).and_then(|it| it.get(key)))
        .filter(|name| !name.is_empty())
        .map(|name| name.as_str().into())
}
