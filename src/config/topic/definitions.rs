//! Every topic config: Kafka 4.1's in alphabetical order, then Klamm's. One table from which checks, defaults,
//! `DescribeConfigs` and the documentation come.

use super::check::{Check, ConfigType};
use Check::{Any, AtLeast, Between, Level, ListOf, OneOf, Only, Plugin, Plugins, Replicas};
use ConfigType::{Boolean, Double, Int, List, Long, String};

/// One topic config.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub name: &'static str,
    pub kind: ConfigType,
    pub default: &'static str,
    pub check: Check,
    /// Broker settings that set it for all topics, the strongest first.
    pub synonyms: &'static [Synonym],
    pub doc: &'static str,
}

/// A broker setting of a topic config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synonym {
    pub name: &'static str,
    /// Multiplies the setting's value: 3,600,000 for one in hours of a config in milliseconds. Negative values stay.
    pub factor: i64,
}

const fn same(name: &'static str) -> Synonym {
    Synonym { name, factor: 1 }
}

const fn minutes(name: &'static str) -> Synonym {
    Synonym { name, factor: 60_000 }
}

const fn hours(name: &'static str) -> Synonym {
    Synonym { name, factor: 3_600_000 }
}

const NO_TIERED_STORAGE: &str = "tiered storage is not served";
const FOREVER: &str = "9223372036854775807";
const CODECS: &[&str] = &["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"];

macro_rules! define {
    ($($name:literal $kind:ident $default:tt $check:expr, [$($synonym:expr),*], $doc:literal;)*) => {
        /// All topic configs.
        pub const DEFINITIONS: &[Definition] = &[$(Definition {
            name: $name,
            kind: $kind,
            default: $default,
            check: $check,
            synonyms: &[$($synonym),*],
            doc: $doc,
        }),*];
    };
}

define! {
    "cleanup.policy" List "delete" ListOf(&["compact", "delete"]), [same("log.cleanup.policy")],
        "What becomes of old segments: `delete` removes them by age and size, `compact` keeps the newest record of each key.";
    "compression.gzip.level" Int "-1" Level(1, 9, -1), [same("compression.gzip.level")],
        "Level at which the broker compresses with gzip; -1 is the codec's default.";
    "compression.lz4.level" Int "9" Between(1, 17), [same("compression.lz4.level")],
        "Level for lz4. It has no effect: the codec here has one level.";
    "compression.type" String "producer" OneOf(CODECS), [same("compression.type")],
        "Codec of stored batches: `producer` keeps the producer's own.";
    "compression.zstd.level" Int "3" Between(-131_072, 22), [same("compression.zstd.level")],
        "Level at which the broker compresses with zstd.";
    "delete.retention.ms" Long "86400000" AtLeast(0), [same("log.cleaner.delete.retention.ms")],
        "How long a compacted topic keeps tombstones.";
    "file.delete.delay.ms" Long "60000" AtLeast(0), [same("log.segment.delete.delay.ms")],
        "How long a deleted segment's file stays.";
    "flush.messages" Long FOREVER AtLeast(1), [same("log.flush.interval.messages")],
        "Records after which the log is fsynced. The append that completes them is acknowledged, and consumers see it, after the fsync.";
    "flush.ms" Long FOREVER AtLeast(0), [same("log.flush.interval.ms")],
        "Time after which a log is fsynced. As in Kafka it is looked at every `log.flush.scheduler.interval.ms`: without that setting never.";
    "follower.replication.throttled.replicas" List "" Replicas, [],
        "Replicas whose replication is throttled on the follower's side.";
    "index.interval.bytes" Int "4096" AtLeast(0), [same("log.index.interval.bytes")],
        "Bytes of log between two entries of its offset index.";
    "internal.segment.bytes" Int "" AtLeast(1), [],
        "Overrides `segment.bytes` without its lower bound: for tests.";
    "leader.replication.throttled.replicas" List "" Replicas, [],
        "Replicas whose replication is throttled on the leader's side.";
    "local.retention.bytes" Long "-2" Only(NO_TIERED_STORAGE), [same("log.local.retention.bytes")],
        "Local share of `retention.bytes` under tiered storage.";
    "local.retention.ms" Long "-2" Only(NO_TIERED_STORAGE), [same("log.local.retention.ms")],
        "Local share of `retention.ms` under tiered storage.";
    "max.compaction.lag.ms" Long FOREVER AtLeast(1), [same("log.cleaner.max.compaction.lag.ms")],
        "Longest time that a record stays uncompacted.";
    "max.message.bytes" Int "1048588" AtLeast(0), [same("message.max.bytes")],
        "Largest record batch, as received.";
    "message.timestamp.after.max.ms" Long "3600000" AtLeast(0), [same("log.message.timestamp.after.max.ms")],
        "How far a record's timestamp may be ahead of the broker's clock.";
    "message.timestamp.before.max.ms" Long FOREVER AtLeast(0), [same("log.message.timestamp.before.max.ms")],
        "How far a record's timestamp may be behind the broker's clock.";
    "message.timestamp.type" String "CreateTime" OneOf(&["CreateTime", "LogAppendTime"]), [same("log.message.timestamp.type")],
        "Whose clock dates a record: the producer's or the broker's.";
    "min.cleanable.dirty.ratio" Double "0.5" Between(0, 1), [same("log.cleaner.min.cleanable.ratio")],
        "Uncompacted share of a log from which it is compacted.";
    "min.compaction.lag.ms" Long "0" AtLeast(0), [same("log.cleaner.min.compaction.lag.ms")],
        "Shortest time that a record stays uncompacted.";
    "min.insync.replicas" Int "1" AtLeast(1), [same("min.insync.replicas")],
        "Replicas that must be in sync for a produce with `acks=all`.";
    "preallocate" Boolean "false" Any, [same("log.preallocate")],
        "Whether the room of a new segment is taken from the disk at once.";
    "remote.log.copy.disable" Boolean "false" Only(NO_TIERED_STORAGE), [],
        "Whether tiered data is read only.";
    "remote.log.delete.on.disable" Boolean "false" Only(NO_TIERED_STORAGE), [],
        "Whether tiered data goes when tiered storage is disabled.";
    "remote.storage.enable" Boolean "false" Only(NO_TIERED_STORAGE), [],
        "Whether the topic uses tiered storage.";
    "retention.bytes" Long "-1" AtLeast(i64::MIN), [same("log.retention.bytes")],
        "Size above which a partition's oldest segments are deleted; -1 for none.";
    "retention.ms" Long "604800000" AtLeast(-1),
        [same("log.retention.ms"), minutes("log.retention.minutes"), hours("log.retention.hours")],
        "Age at which a segment is deleted; -1 for never.";
    "segment.bytes" Int "1073741824" AtLeast(1_048_576), [same("log.segment.bytes")],
        "Size at which a segment is rolled.";
    "segment.index.bytes" Int "10485760" AtLeast(4), [same("log.index.size.max.bytes")],
        "Size of an index at which its segment is rolled.";
    "segment.jitter.ms" Long "0" AtLeast(0), [same("log.roll.jitter.ms"), hours("log.roll.jitter.hours")],
        "Random time less than `segment.ms` by which a roll comes early.";
    "segment.ms" Long "604800000" AtLeast(1), [same("log.roll.ms"), hours("log.roll.hours")],
        "Age at which a segment is rolled.";
    "unclean.leader.election.enable" Boolean "false" Any, [same("unclean.leader.election.enable")],
        "Whether a replica that lacks records may lead when no other is there.";
    "klamm.flush.mode" String "os" OneOf(&["os", "ack"]), [same("klamm.flush.mode")],
        "When a produce is acknowledged: `os`, once the operating system has it, as in Kafka; `ack`, after an fsync that covers it. One fsync serves all appends that came before it began; consumers see records after it.";
    "klamm.partitioner" String "" Plugin, [],
        "The partitioner plugin that places the topic's records; empty for none.";
    "klamm.partitioner.mode" String "route" OneOf(&["route", "guard", "observe"]), [],
        "What follows from the partitioner's choice: `route` stores the record there, `guard` refuses a record that came elsewhere, `observe` counts it.";
    "klamm.transforms" List "" Plugins, [],
        "The transform plugins that see the topic's records, in this order.";
    "klamm.transforms.mode" String "inline" Check::Built { built: &["inline"], planned: &["tail"] }, [],
        "Where transforms stand: `inline`, before a record is stored, or `tail`, behind the log.";
    "klamm.transforms.output" String "" Only("only `klamm.transforms.mode=tail` has outputs, which is not built yet"), [],
        "Topics that transforms behind the log write to.";
}

/// The definition of a config.
pub fn definition(name: &str) -> Option<&'static Definition> {
    DEFINITIONS.iter().find(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_default_passes_its_own_check() {
        for it in DEFINITIONS.iter().filter(|it| it.name != "internal.segment.bytes") {
            assert_eq!(super::super::validate(it.name, it.default), Ok(()), "{}", it.name);
        }
    }

    #[test]
    fn no_name_and_no_synonym_is_there_twice() {
        let names: BTreeSet<_> = DEFINITIONS.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), DEFINITIONS.len());
        let synonyms = || DEFINITIONS.iter().flat_map(|it| it.synonyms).map(|it| it.name);
        assert_eq!(synonyms().collect::<BTreeSet<_>>().len(), synonyms().count());
    }
}
