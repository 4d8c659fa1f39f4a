//! The table of a node's settings: name, meaning, where its value lives, and its range.

use super::{
    setting::{Setting, kind_of, setting},
    topic::ConfigType,
    value::{Value, read_number},
};

/// What one request may make, as in Kafka; more would be refused when the topic is made.
const PARTITIONS_MAX: i32 = 10_000;
/// A 32-bit guest has no more.
const PLUGIN_MEMORY_MAX_BYTES: usize = 1 << 32;
/// Kafka's INT.
const INT_MAX: i64 = i32::MAX as i64;
/// Kafka's LONG: some say "never" by it.
const LONGEST_MS: u64 = LONG_MAX;

/// Of a `LONG` that is not negative.
const LONG_MAX: u64 = i64::MAX as u64;
/// Nobody waits longer for a plugin, or for a look at their folder.
const HOUR_MS: u64 = 3_600_000;
/// Each is remembered for each client with a quota.
const QUOTA_WINDOWS_MAX: u32 = 1_000;
/// What is made of a push takes some 25 times as much for a moment.
const TELEMETRY_BYTES_MAX: usize = 64 * 1024 * 1024;
const HOUR_SECONDS: u32 = 3_600;
/// More only wait for the same disk.
const RECOVERY_THREADS_MAX: usize = 256;
/// More would only take the disk's time from everybody else.
pub const CLEANER_THREADS_MAX: usize = 64;
/// No more is gained by longer reads.
const CLEANER_BUFFER_MAX: usize = 1 << 30;
/// The instances of each thread reserve 68 GiB of addresses, of 128 TiB.
const PLUGIN_THREADS_MAX: usize = 256;

/// Every setting, in the order in which `klamm config --print-defaults` shows them.
pub const SETTINGS: &[Setting] = &[
    setting!("node.id", node.id, "Number of this node in its cluster."),
    setting!(
        "process.roles",
        node.process_roles,
        "What this node does. One node is both broker and controller."
    ),
    setting!("broker.rack", node.rack, "Rack of this node, told to clients and assignors."),
    setting!(
        "listeners",
        net.listeners,
        "Where Kafka clients connect, as NAME://HOST:PORT. Port 0 picks a free one; the ready line tells it."
    ),
    setting!(
        "advertised.listeners",
        net.advertised_listeners,
        "Addresses that clients are told, one for each listener's name. Empty: the listeners as bound."
    ),
    setting!(
        "listener.security.protocol.map",
        net.security_protocol_map,
        "NAME:PROTOCOL for listeners whose name is no protocol. PLAINTEXT is the only protocol served."
    ),
    setting!(
        "controller.quorum.voters",
        node.controller_quorum_voters,
        "ID@HOST:PORT of the voters of the metadata quorum. One voter, this node, needs none."
    ),
    setting!(
        "controller.listener.names",
        node.controller_listener_names,
        "Listeners that only controllers use. They are not opened while there is one voter."
    ),
    setting!(
        "inter.broker.listener.name",
        node.inter_broker_listener_name,
        "The listener that other brokers use; it must be one of the listeners."
    ),
    setting!(
        "socket.request.max.bytes",
        net.request_max_bytes in 1024..,
        "Largest request, in bytes."
    ),
    setting!(
        "connections.max.idle.ms",
        net.connections_max_idle_ms in 1..=LONGEST_MS,
        "A connection without a request for so long is closed."
    ),
    setting!(
        "max.connections",
        net.max_connections in 1..=i32::MAX as usize,
        "Connections that this node holds at a time. More wait until others end."
    ),
    setting!(
        "max.connections.per.ip",
        net.max_connections_per_ip in 0..=i32::MAX as usize,
        "Connections of one address at a time. More are closed at once."
    ),
    setting!(
        "max.connections.per.ip.overrides",
        String,
        net.max_connections_per_ip_overrides,
        "ADDRESS:COUNT for addresses with a limit of their own."
    ),
    setting!(
        "max.connection.creation.rate",
        net.max_connection_creation_rate in 0..,
        "Connections a second that this node serves. More wait on their listener."
    ),
    setting!(
        "klamm.request.inflight.max.bytes",
        net.request_inflight_max_bytes in 1_048_576..,
        "Request bytes that all connections together may hold; a reader above it waits."
    ),
    setting!(
        "klamm.http.listen",
        net.http_listen,
        "HOST:PORT of the admin HTTP server: /health/live, /health/ready, /metrics, /v1/plugins."
    ),
    setting!(
        "log.dirs",
        log.dirs,
        "Folders for partitions. The first also holds the metadata log and the plugins' compile cache."
    ),
    setting!(
        "log.retention.check.interval.ms",
        log.retention_check_interval_ms in 1..=LONGEST_MS,
        "How often retention looks for segments to delete."
    ),
    setting!(
        "log.flush.scheduler.interval.ms",
        log.flush_scheduler_interval_ms in 1..=LONGEST_MS,
        "How often logs are looked at for `flush.ms`, of which it is a default too."
    ),
    setting!(
        "log.flush.offset.checkpoint.interval.ms",
        log.flush_offset_checkpoint_interval_ms in 1..=LONGEST_MS,
        "How often it is written down up to where logs are on disk, which is where recovery begins after a crash."
    ),
    setting!(
        "num.recovery.threads.per.data.dir",
        log.recovery_threads_per_dir in 1..=RECOVERY_THREADS_MAX,
        "Threads for each of `log.dirs` that open logs at a start and close them at a stop."
    ),
    setting!(
        "producer.id.expiration.ms",
        log.producer_id_expiration_ms in 1..=INT_MAX,
        "How long a silent producer's id is remembered."
    ),
    setting!(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        log.alter_dirs_max_bytes_per_second in 0..=LONG_MAX,
        "Bytes a second that all moves of replicas between log directories together copy at most, averaged."
    ),
    setting!(
        "klamm.decompressed.max.bytes",
        log.decompressed_max_bytes in 1024..,
        "Most that one batch may expand to wherever the broker decompresses."
    ),
    setting!(
        "log.cleaner.enable",
        log.cleaner.enable,
        "Whether topics with cleanup.policy=compact are compacted."
    ),
    setting!(
        "log.cleaner.threads",
        log.cleaner.threads in 1..=CLEANER_THREADS_MAX,
        "Threads that compact logs; each works on one log at a time."
    ),
    setting!(
        "log.cleaner.backoff.ms",
        log.cleaner.backoff_ms in 0..=LONGEST_MS,
        "How long a cleaner rests when no log is worth cleaning."
    ),
    setting!(
        "log.cleaner.dedupe.buffer.size",
        Long,
        log.cleaner.dedupe_buffer_bytes in 1_048_576..,
        "Most memory in which all cleaners together note keys, of 24 bytes each, three quarters of it used. A log with more keys is cleaned in several rounds."
    ),
    setting!(
        "log.cleaner.io.buffer.size",
        log.cleaner.io_buffer_bytes in 16_384..=CLEANER_BUFFER_MAX,
        "Bytes that all cleaners together read, and write, at once; a larger batch is read whole."
    ),
    setting!(
        "log.cleaner.io.max.bytes.per.second",
        log.cleaner.io_max_bytes_per_second,
        "Bytes a second that all cleaners together read and write at most, averaged."
    ),
    setting!(
        "auto.create.topics.enable",
        node.auto_create_topics_enable,
        "Whether asking for an unknown topic makes it."
    ),
    setting!("delete.topic.enable", node.delete_topic_enable, "Whether topics can be deleted."),
    setting!(
        "fetch.max.bytes",
        node.fetch_max_bytes in 1024..=INT_MAX as usize,
        "Most bytes of records in one answer to a fetch; a first batch that is larger comes whole."
    ),
    setting!(
        "max.incremental.fetch.session.cache.slots",
        node.max_incremental_fetch_session_cache_slots,
        "Fetch sessions that this node keeps at a time; who gets none names all its partitions in each fetch. 0 keeps none."
    ),
    setting!(
        "max.request.partition.size.limit",
        node.max_request_partition_size_limit in 1..,
        "Partitions in one answer to DescribeTopicPartitions."
    ),
    setting!(
        "num.partitions",
        node.num_partitions in 1..=PARTITIONS_MAX,
        "Partitions of a topic whose creator does not say."
    ),
    setting!(
        "default.replication.factor",
        node.default_replication_factor in 1..,
        "Replicas of a topic whose creator does not say."
    ),
    setting!(
        "group.min.session.timeout.ms",
        group.min_session_timeout_ms in 1..,
        "Shortest session timeout that a member may ask for."
    ),
    setting!(
        "group.max.session.timeout.ms",
        group.max_session_timeout_ms in 1..,
        "Longest session timeout that a member may ask for."
    ),
    setting!(
        "group.initial.rebalance.delay.ms",
        group.initial_rebalance_delay_ms in 0..=INT_MAX as u64,
        "How long an empty group waits for more members before its first rebalance."
    ),
    setting!(
        "group.max.size",
        group.max_size in 1..,
        "Members that a group may have. Kafka has no limit unless told to; Klamm always has one."
    ),
    setting!(
        "group.coordinator.rebalance.protocols",
        group.rebalance_protocols,
        "Protocols that groups may speak: `classic`, which stays, and `consumer` (KIP-848)."
    ),
    setting!(
        "group.consumer.session.timeout.ms",
        group.consumer.session_timeout_ms in 1..,
        "A member of a group of the consumer protocol that is not heard of for so long is out. A group can have its own."
    ),
    setting!(
        "group.consumer.min.session.timeout.ms",
        group.consumer.min_session_timeout_ms in 1..,
        "Shortest session timeout that a group of the consumer protocol may be given."
    ),
    setting!(
        "group.consumer.max.session.timeout.ms",
        group.consumer.max_session_timeout_ms in 1..,
        "Longest session timeout that a group of the consumer protocol may be given."
    ),
    setting!(
        "group.consumer.heartbeat.interval.ms",
        group.consumer.heartbeat_interval_ms in 1..,
        "How often members of groups of the consumer protocol are told to send heartbeats. A group can have its own."
    ),
    setting!(
        "group.consumer.min.heartbeat.interval.ms",
        group.consumer.min_heartbeat_interval_ms in 1..,
        "Shortest heartbeat interval that a group of the consumer protocol may be given."
    ),
    setting!(
        "group.consumer.max.heartbeat.interval.ms",
        group.consumer.max_heartbeat_interval_ms in 1..,
        "Longest heartbeat interval that a group of the consumer protocol may be given."
    ),
    setting!(
        "group.consumer.max.size",
        group.consumer.max_size in 1..,
        "Members that a group of the consumer protocol may have. Kafka has no limit unless told to; Klamm always has one."
    ),
    setting!(
        "group.consumer.assignors",
        group.consumer.assignors,
        "Assignors of the consumer protocol: `uniform` and `range`, which are built in, or plugins. The first is for groups whose members name none."
    ),
    setting!(
        "group.consumer.migration.policy",
        group.consumer.migration_policy,
        "Which groups with members change their protocol for a member that speaks the other one: none, `disabled`, is the only policy yet. Those without members do."
    ),
    setting!(
        "group.consumer.regex.refresh.interval.ms",
        group.consumer.regex_refresh_interval_ms in 10_000..,
        "How often the regular expressions of a group's members are matched again, besides when topics change."
    ),
    setting!(
        "offsets.topic.num.partitions",
        group.offsets_topic_num_partitions in 1..=PARTITIONS_MAX,
        "Partitions of __consumer_offsets when it is made."
    ),
    setting!(
        "offsets.retention.minutes",
        group.offsets_retention_minutes in 1..=INT_MAX,
        "How long offsets of a group without members are kept."
    ),
    setting!(
        "offsets.retention.check.interval.ms",
        group.offsets_retention_check_interval_ms in 1..=LONGEST_MS,
        "How often expired offsets are looked for."
    ),
    setting!(
        "offset.metadata.max.bytes",
        group.offset_metadata_max_bytes,
        "Longest text that a client may store with an offset."
    ),
    setting!(
        "klamm.assignor.protocols",
        group.assignor_protocols,
        "Classic protocols that an assignor plugin may answer for. `stream` and other types are never touched."
    ),
    setting!(
        "klamm.assignor.rebalance.interval.ms",
        group.assignor_rebalance_interval_ms in 0..=INT_MAX as u64,
        "A reloaded or changed assignor rebalances a group at most this often."
    ),
    setting!(
        "telemetry.max.bytes",
        telemetry.max_bytes in 1..=TELEMETRY_BYTES_MAX,
        "Largest push of a client's metrics, as it is sent and as it expands."
    ),
    setting!(
        "quota.window.num",
        quota.window.num in 1..=QUOTA_WINDOWS_MAX,
        "Windows in which the bytes of clients with a quota are counted."
    ),
    setting!(
        "quota.window.size.seconds",
        quota.window.size_seconds in 1..=HOUR_SECONDS,
        "Seconds of such a window."
    ),
    setting!(
        "controller.quota.window.num",
        quota.controller_window.num in 1..=QUOTA_WINDOWS_MAX,
        "Windows for which mutations of topics by clients with a quota may be saved up."
    ),
    setting!(
        "controller.quota.window.size.seconds",
        quota.controller_window.size_seconds in 1..=HOUR_SECONDS,
        "Seconds of such a window."
    ),
    setting!("klamm.plugin.dir", plugin.dir, "The watched folder of plugins; it need not exist."),
    setting!(
        "klamm.plugin.call.timeout.ms",
        plugin.call_timeout_ms in 1..=HOUR_MS,
        "Longest that a call of a plugin may take."
    ),
    setting!(
        "klamm.plugin.load.timeout.ms",
        plugin.load_timeout_ms in 1..=HOUR_MS,
        "Longest that loading a plugin may take, its compilation not counted."
    ),
    setting!(
        "klamm.plugin.memory.max.bytes",
        plugin.memory_max_bytes in 1_048_576..=PLUGIN_MEMORY_MAX_BYTES,
        "Most memory of one instance of a plugin."
    ),
    setting!("klamm.plugin.file.max.bytes", plugin.file_max_bytes in 1024.., "Largest plugin file."),
    setting!(
        "klamm.plugin.threads",
        plugin.threads in 0..=PLUGIN_THREADS_MAX,
        "Threads that run plugins; 0: as many as there are cores, at least 2."
    ),
    setting!(
        "klamm.plugin.rescan.interval.ms",
        plugin.rescan_interval_ms in 10..=HOUR_MS,
        "How often the plugin folder is looked at, besides when the system tells of a change."
    ),
];
