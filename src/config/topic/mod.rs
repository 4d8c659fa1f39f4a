//! Topic configs: their names, defaults and checks, and the typed values that a partition works with.

mod broker_defaults;
mod check;
mod definitions;
mod effective;

use std::{collections::BTreeMap, str::FromStr};

pub use broker_defaults::{
    broker_default_names, print_broker_defaults, read_broker_default, validate_in_file,
};
pub use check::{Check, ConfigType, validate, validate_as, validate_together};
pub use definitions::{DEFINITIONS, Definition, Synonym, definition};
pub use effective::{
    ConfigSource, ConfigValue, EffectiveConfig, broker_values, effective_configs, synonyms,
};

use self::effective::Layers;
use super::Config;
use crate::{
    base::{PluginName, TopicName},
    wire::record_batch::{Codec, Compression, TimestampType},
};

pub const PARTITIONER: &str = "klamm.partitioner";
pub const PARTITIONER_MODE: &str = "klamm.partitioner.mode";
pub const TRANSFORMS: &str = "klamm.transforms";

/// Configs that put a hook on a topic.
pub const HOOKS: [&str; 2] = [PARTITIONER, TRANSFORMS];

/// Stands for the codec's own default.
const GZIP_DEFAULT_LEVEL: i32 = -1;

/// Overrides as a topic carries them, by config name.
pub type TopicConfigs = BTreeMap<String, String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanupPolicy {
    pub delete: bool,
    pub compact: bool,
}

/// `klamm.flush.mode`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushMode {
    /// Acknowledged once the operating system has it.
    Os,
    /// Acknowledged after an fsync that covers it.
    Ack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionerMode {
    Route,
    Guard,
    Observe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformsMode {
    Inline,
    Tail,
}

/// The effective configs of one topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicConfig {
    pub cleanup_policy: CleanupPolicy,
    pub min_cleanable_dirty_ratio: f64,
    pub min_compaction_lag_ms: i64,
    pub max_compaction_lag_ms: i64,
    /// How long the cleaner leaves tombstones.
    pub delete_retention_ms: i64,
    /// `None`: as the producer sent it.
    pub compression_type: Option<Compression>,
    /// `None`: the codec's default.
    pub compression_gzip_level: Option<i32>,
    pub compression_zstd_level: i32,
    pub max_message_bytes: usize,
    pub timestamp_type: TimestampType,
    pub timestamp_before_max_ms: i64,
    pub timestamp_after_max_ms: i64,
    pub min_insync_replicas: i32,
    /// −1: for ever.
    pub retention_ms: i64,
    /// −1: without bound.
    pub retention_bytes: i64,
    pub segment_bytes: u32,
    pub segment_ms: i64,
    pub segment_jitter_ms: i64,
    pub segment_index_bytes: u32,
    pub index_interval_bytes: u32,
    pub file_delete_delay_ms: u64,
    pub flush_messages: i64,
    pub flush_ms: i64,
    pub flush_mode: FlushMode,
    pub preallocate: bool,
    pub partitioner: Option<PluginName>,
    pub partitioner_mode: PartitionerMode,
    /// In order; empty for none.
    pub transforms: Vec<PluginName>,
    pub transforms_mode: TransformsMode,
}

impl TopicConfig {
    /// The effective configs: the topic's own over the matching pattern's over the node's over Kafka's
    /// defaults. Patterns never apply to internal topics, nor do hooks. Values were checked when they were set;
    /// one that is bad all the same (a file from elsewhere) reads as the default.
    pub fn resolve(config: &Config, topic: &TopicName, own: &TopicConfigs) -> Self {
        let layers = Layers::new(config, topic, own);
        let resolver = Resolver { layers };
        let hooks = !topic.is_internal();
        Self {
            cleanup_policy: resolver.get("cleanup.policy"),
            min_cleanable_dirty_ratio: resolver.get("min.cleanable.dirty.ratio"),
            min_compaction_lag_ms: resolver.get("min.compaction.lag.ms"),
            max_compaction_lag_ms: resolver.get("max.compaction.lag.ms"),
            delete_retention_ms: resolver.get("delete.retention.ms"),
            compression_type: resolver.get::<CompressionType>("compression.type").0,
            compression_gzip_level: Some(resolver.get("compression.gzip.level"))
                .filter(|it| *it != GZIP_DEFAULT_LEVEL),
            compression_zstd_level: resolver.get("compression.zstd.level"),
            max_message_bytes: resolver.size("max.message.bytes") as usize,
            timestamp_type: resolver.get::<TimestampTypeName>("message.timestamp.type").0,
            timestamp_before_max_ms: resolver.get("message.timestamp.before.max.ms"),
            timestamp_after_max_ms: resolver.get("message.timestamp.after.max.ms"),
            min_insync_replicas: resolver.get("min.insync.replicas"),
            retention_ms: resolver.get("retention.ms"),
            retention_bytes: resolver.get::<i64>("retention.bytes").max(-1),
            segment_bytes: resolver
                .set("internal.segment.bytes")
                .unwrap_or_else(|| resolver.size("segment.bytes")),
            segment_ms: resolver.get("segment.ms"),
            segment_jitter_ms: resolver.get("segment.jitter.ms"),
            segment_index_bytes: resolver.size("segment.index.bytes"),
            index_interval_bytes: resolver.size("index.interval.bytes"),
            file_delete_delay_ms: resolver.get("file.delete.delay.ms"),
            flush_messages: resolver.get("flush.messages"),
            flush_ms: resolver.get("flush.ms"),
            flush_mode: resolver.get("klamm.flush.mode"),
            preallocate: resolver.boolean("preallocate"),
            partitioner: resolver.names(PARTITIONER).pop().filter(|_| hooks),
            partitioner_mode: resolver.get(PARTITIONER_MODE),
            transforms: if hooks { resolver.names(TRANSFORMS) } else { Vec::new() },
            transforms_mode: resolver.get("klamm.transforms.mode"),
        }
    }

    /// A codec at the topic's level for it. That of lz4 has no meaning: the codec here has one level.
    pub fn codec(&self, compression: Compression) -> Codec {
        let level = match compression {
            Compression::Gzip => self.compression_gzip_level,
            Compression::Zstd => Some(self.compression_zstd_level),
            Compression::None | Compression::Snappy | Compression::Lz4 => None,
        };
        Codec::at(compression, level)
    }

    /// Whether a hook sees this topic's records.
    pub fn has_hooks(&self) -> bool {
        self.partitioner.is_some() || !self.transforms.is_empty()
    }
}

/// Kafka's default of a config; empty for an unknown one.
pub fn default(name: &str) -> &'static str {
    definition(name).map_or("", |it| it.default)
}

/// The items of a list: commas separate, space around and empty items do not count.
pub fn list(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|it| !it.is_empty())
}

/// Typed values, with the default for those that do not parse.
struct Resolver<'a> {
    layers: Layers<'a>,
}

impl Resolver<'_> {
    fn get<T: FromStr>(&self, name: &str) -> T {
        let parsed = self.set(name).or_else(|| default(name).parse().ok());
        parsed.expect("defaults parse: a test resolves them all")
    }

    /// The value of the strongest layer that has one which parses and passes its check.
    fn set<T: FromStr>(&self, name: &str) -> Option<T> {
        let is_good = |value: &&str| validate(name, value).is_ok();
        self.layers.values(name).filter(is_good).find_map(|it| it.trim().parse().ok())
    }

    /// A size: not negative, as its check says.
    fn size(&self, name: &str) -> u32 {
        self.get(name)
    }

    /// In any case, as Kafka reads it.
    fn boolean(&self, name: &str) -> bool {
        self.layers.values(name).next().unwrap_or(default(name)).trim().eq_ignore_ascii_case("true")
    }

    fn names(&self, name: &str) -> Vec<PluginName> {
        let value = self.layers.values(name).next().unwrap_or("");
        list(value).map(Into::into).collect()
    }
}

impl FromStr for CleanupPolicy {
    type Err = ();

    fn from_str(value: &str) -> Result<Self, ()> {
        let has = |policy: &str| list(value).any(|it| it == policy);
        Ok(Self { delete: has("delete"), compact: has("compact") })
    }
}

impl FromStr for FlushMode {
    type Err = ();

    fn from_str(value: &str) -> Result<Self, ()> {
        match value {
            "os" => Ok(Self::Os),
            "ack" => Ok(Self::Ack),
            _ => Err(()),
        }
    }
}

impl FromStr for PartitionerMode {
    type Err = ();

    fn from_str(value: &str) -> Result<Self, ()> {
        match value {
            "route" => Ok(Self::Route),
            "guard" => Ok(Self::Guard),
            "observe" => Ok(Self::Observe),
            _ => Err(()),
        }
    }
}

impl FromStr for TransformsMode {
    type Err = ();

    fn from_str(value: &str) -> Result<Self, ()> {
        match value {
            "inline" => Ok(Self::Inline),
            "tail" => Ok(Self::Tail),
            _ => Err(()),
        }
    }
}

/// `compression.type`; `None` for `producer`.
struct CompressionType(Option<Compression>);

impl FromStr for CompressionType {
    type Err = ();

    fn from_str(value: &str) -> Result<Self, ()> {
        Ok(Self(match value {
            "producer" => None,
            "uncompressed" => Some(Compression::None),
            "gzip" => Some(Compression::Gzip),
            "snappy" => Some(Compression::Snappy),
            "lz4" => Some(Compression::Lz4),
            "zstd" => Some(Compression::Zstd),
            _ => return Err(()),
        }))
    }
}

struct TimestampTypeName(TimestampType);

impl FromStr for TimestampTypeName {
    type Err = ();

    fn from_str(value: &str) -> Result<Self, ()> {
        match value {
            "CreateTime" => Ok(Self(TimestampType::CreateTime)),
            "LogAppendTime" => Ok(Self(TimestampType::LogAppendTime)),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests;
