//! Every topic config of Kafka 4.1, and what became of it here.

use std::{fs, path::Path};

use super::*;
use ConfigType::{Boolean, Double, Int, List, Long, String as Text};
use Meaning::{Held, Told};

/// What a config does.
enum Meaning {
    /// Served: a file, and the test in it that fails without.
    Held(&'static str, &'static str),
    /// It does nothing, or other values are refused, and docs/compatibility.md says so.
    Told,
}

/// Name, type, default, a value that passes, one that Kafka refuses, and what it does.
type Row = (&'static str, ConfigType, &'static str, &'static str, &'static str, Meaning);

const FOREVER: &str = "9223372036854775807";

const RETENTION: &str = "src/log/retention.rs";
const SEGMENTS: &str = "src/log/tests/retention.rs";
const CLEANABLE: &str = "src/log/cleaner/cleanable.rs";
const COMPACTION: &str = "tests/it/compaction.rs";
const TIMESTAMPS: &str = "src/produce/timestamps.rs";
const INSPECTION: &str = "src/produce/inspection.rs";
const DURABILITY: &str = "src/replica/tests/durability.rs";
const APPEND: &str = "src/log/tests/append.rs";
const ROLL: &str = "a_segment_rolls_by_size_age_and_full_index";

/// As `LogConfig` and `TopicConfig` of Kafka 4.1 have them.
const ROWS: &[Row] = &[
    (
        "cleanup.policy",
        List,
        "delete",
        "compact,delete",
        "burn",
        Held(COMPACTION, "a_compacted_topic_holds_the_newest_of_each_key_and_keeps_its_producers"),
    ),
    (
        "compression.gzip.level",
        Int,
        "-1",
        "9",
        "10",
        Held(INSPECTION, "what_is_compressed_anew_is_as_small_as_its_level_makes_it"),
    ),
    ("compression.lz4.level", Int, "9", "17", "18", Told),
    (
        "compression.type",
        Text,
        "producer",
        "zstd",
        "brotli",
        Held(INSPECTION, "a_topics_codec_takes_the_place_of_the_producers"),
    ),
    (
        "compression.zstd.level",
        Int,
        "3",
        "-131072",
        "23",
        Held(INSPECTION, "what_is_compressed_anew_is_as_small_as_its_level_makes_it"),
    ),
    (
        "delete.retention.ms",
        Long,
        "86400000",
        "0",
        "-1",
        Held("src/log/cleaner/tests/rules.rs", "a_tombstone_goes_once_its_time_is_over"),
    ),
    (
        "file.delete.delay.ms",
        Long,
        "60000",
        "0",
        "-1",
        Held(SEGMENTS, "old_segments_go_and_their_files_after_a_delay"),
    ),
    (
        "flush.messages",
        Long,
        FOREVER,
        "1",
        "0",
        Held(DURABILITY, "with_a_count_the_append_that_completes_it_waits_for_its_fsync"),
    ),
    (
        "flush.ms",
        Long,
        FOREVER,
        "0",
        "-1",
        Held(DURABILITY, "logs_are_flushed_by_the_clock_where_the_topic_says_so"),
    ),
    ("follower.replication.throttled.replicas", List, "", "0:1,1:1", "0", Told),
    (
        "index.interval.bytes",
        Int,
        "4096",
        "0",
        "-1",
        Held(
            "src/log/tests/indexes.rs",
            "an_entry_names_the_last_offset_of_the_batch_at_its_position",
        ),
    ),
    ("leader.replication.throttled.replicas", List, "", "*", "*,0:1", Told),
    ("local.retention.bytes", Long, "-2", "-2", "-3", Told),
    ("local.retention.ms", Long, "-2", "-2", "-3", Told),
    (
        "max.compaction.lag.ms",
        Long,
        FOREVER,
        "1",
        "0",
        Held(COMPACTION, "max_compaction_lag_rolls_and_cleans_what_nobody_adds_to"),
    ),
    (
        "max.message.bytes",
        Int,
        "1048588",
        "0",
        "-1",
        Held("src/produce/admission.rs", "the_size_is_held_against_the_topics_configs"),
    ),
    (
        "message.timestamp.after.max.ms",
        Long,
        "3600000",
        "0",
        "-1",
        Held(TIMESTAMPS, "each_record_that_is_too_far_is_named"),
    ),
    (
        "message.timestamp.before.max.ms",
        Long,
        FOREVER,
        "0",
        "-1",
        Held(TIMESTAMPS, "each_record_that_is_too_far_is_named"),
    ),
    (
        "message.timestamp.type",
        Text,
        "CreateTime",
        "LogAppendTime",
        "createtime",
        Held(APPEND, "log_append_time_replaces_the_timestamp_and_the_crc"),
    ),
    (
        "min.cleanable.dirty.ratio",
        Double,
        "0.5",
        "1",
        "1.1",
        Held(CLEANABLE, "the_ratio_is_that_of_bytes_and_must_be_above_the_limit"),
    ),
    (
        "min.compaction.lag.ms",
        Long,
        "0",
        FOREVER,
        "-1",
        Held(CLEANABLE, "what_is_young_waits_and_what_is_old_does_not"),
    ),
    (
        "min.insync.replicas",
        Int,
        "1",
        "3",
        "0",
        Held("src/replica/tests.rs", "acks_all_needs_enough_replicas_in_sync"),
    ),
    (
        "preallocate",
        Boolean,
        "false",
        "true",
        "yes",
        Held(
            "src/log/tests/preallocated.rs",
            "a_segment_has_its_room_until_it_is_sealed_or_closed",
        ),
    ),
    ("remote.log.copy.disable", Boolean, "false", "false", "yes", Told),
    ("remote.log.delete.on.disable", Boolean, "false", "false", "yes", Told),
    ("remote.storage.enable", Boolean, "false", "false", "yes", Told),
    (
        "retention.bytes",
        Long,
        "-1",
        "-9",
        "1.5",
        Held(RETENTION, "size_deletes_what_leaves_at_least_the_limit"),
    ),
    (
        "retention.ms",
        Long,
        "604800000",
        "-1",
        "-2",
        Held(RETENTION, "time_deletes_from_the_front_up_to_the_first_young_segment"),
    ),
    ("segment.bytes", Int, "1073741824", "1048576", "1048575", Held(APPEND, ROLL)),
    ("segment.index.bytes", Int, "10485760", "4", "3", Held(APPEND, ROLL)),
    (
        "segment.jitter.ms",
        Long,
        "0",
        "1",
        "-1",
        Held(SEGMENTS, "logs_of_one_age_roll_apart_within_the_jitter"),
    ),
    (
        "segment.ms",
        Long,
        "604800000",
        "1",
        "0",
        Held(SEGMENTS, "an_old_active_segment_rolls_by_the_clock"),
    ),
    ("unclean.leader.election.enable", Boolean, "false", "true", "yes", Told),
];

#[test]
fn every_topic_config_of_kafka_has_its_type_default_and_check() {
    for &(name, kind, default, good, bad, _) in ROWS {
        let it = definition(name).unwrap();
        assert_eq!((it.kind, it.default), (kind, default), "{name}");
        assert_eq!(validate(name, good), Ok(()), "{name}={good}");
        assert!(validate(name, bad).is_err(), "{name}={bad}");
    }
}

#[test]
fn there_is_no_other_topic_config_but_klamms_and_the_one_for_tests() {
    let is_known = |it: &&str| ROWS.iter().any(|row| row.0 == *it);
    let others: Vec<_> = DEFINITIONS
        .iter()
        .map(|it| it.name)
        .filter(|it| !it.starts_with("klamm.") && !is_known(it))
        .collect();
    assert_eq!(others, ["internal.segment.bytes"]);
}

#[test]
fn every_topic_config_of_kafka_is_held_to_by_a_test_or_told_to_do_nothing() {
    let read =
        |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    for (name, .., meaning) in ROWS {
        match meaning {
            Held(path, test) => {
                assert!(read(path).contains(&format!("fn {test}(")), "{name}: {test}");
            }
            Told => {
                let is_told = read("docs/compatibility.md").contains(&format!("`{name}`"));
                assert!(is_told, "docs/compatibility.md: nothing of {name}");
            }
        }
    }
}
