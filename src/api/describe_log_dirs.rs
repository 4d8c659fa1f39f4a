//! `DescribeLogDirs` (key 35), versions 1 to 4.
//!
//! The log directories of this node, and how large the logs in them are (KIP-113).
//!
//! | version | adds                                      | source  |
//! |---------|-------------------------------------------|---------|
//! | 2       | flexible encoding                         | KIP-482 |
//! | 3       | a code for all                            | KIP-784 |
//! | 4       | bytes of the file system, and those free  | KIP-827 |
//!
//! A log that is being moved to another directory is told of in both, there as a future one with the records that it lacks.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    sync::Arc,
};

use kafka_protocol::{
    messages::{
        DescribeLogDirsRequest, DescribeLogDirsResponse,
        describe_log_dirs_response::{
            DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
        },
    },
    protocol::StrBytes,
};

use super::{Context, Rooms, group_text::wire};
use crate::{
    base::{ErrorCode, TopicName, TopicPartition},
    log::Space,
    replica::{DescribedDir, ReplicaManager, off_workers},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=4;

/// From this version on, an answer tells the bytes of the file system.
const SPACE_SINCE: i16 = 4;

/// Asks the file systems, which may take its time, so it is done off the runtime's workers.
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DescribeLogDirsRequest,
) -> DescribeLogDirsResponse {
    let (replicas, version) = (Arc::clone(&rooms.replicas), context.api_version);
    off_workers(move || answer(&replicas, version, &request)).await
}

fn answer(
    replicas: &ReplicaManager,
    version: i16,
    request: &DescribeLogDirsRequest,
) -> DescribeLogDirsResponse {
    let asked = asked(request);
    let is_asked = |it: &TopicPartition| asked.as_ref().is_none_or(|asked| asked.contains(it));
    let results = replicas.describe_dirs().into_iter().map(|it| result(it, version, is_asked));
    DescribeLogDirsResponse::default().with_results(results.collect())
}

/// `None` for all partitions.
fn asked(request: &DescribeLogDirsRequest) -> Option<BTreeSet<TopicPartition>> {
    let topics = request.topics.as_ref()?.iter();
    let partitions = topics.flat_map(|topic| {
        topic.partitions.iter().map(|&it| TopicPartition::new(&**topic.topic, it))
    });
    Some(partitions.collect())
}

fn result(
    dir: DescribedDir,
    version: i16,
    is_asked: impl Fn(&TopicPartition) -> bool,
) -> DescribeLogDirsResult {
    let path = StrBytes::from_string(dir.path.display().to_string());
    let result = DescribeLogDirsResult::default().with_log_dir(path);
    let Some(space) = dir.space else {
        return result.with_error_code(ErrorCode::KafkaStorageError.code());
    };
    let mut topics = BTreeMap::<TopicName, Vec<DescribeLogDirsPartition>>::new();
    for log in dir.logs.into_iter().filter(|it| is_asked(&it.partition)) {
        let described = DescribeLogDirsPartition::default()
            .with_partition_index(log.partition.partition)
            .with_partition_size(signed(log.size_bytes))
            .with_offset_lag(log.offset_lag)
            .with_is_future_key(log.is_future);
        topics.entry(log.partition.topic).or_default().push(described);
    }
    let topics = topics.into_iter().map(|(name, partitions)| {
        DescribeLogDirsTopic::default()
            .with_name(wire(name.as_str()).into())
            .with_partitions(partitions)
    });
    with_space(result.with_topics(topics.collect()), space, version)
}

fn with_space(result: DescribeLogDirsResult, space: Space, version: i16) -> DescribeLogDirsResult {
    if version < SPACE_SINCE {
        return result;
    }
    result.with_total_bytes(signed(space.total_bytes)).with_usable_bytes(signed(space.usable_bytes))
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{api::test_node::encodes, replica::DescribedLog};

    #[test]
    fn a_directory_that_is_offline_has_an_error_and_no_logs() {
        let log = |topic, partition, size_bytes, offset_lag| DescribedLog {
            partition: TopicPartition::new(topic, partition),
            size_bytes,
            offset_lag,
            is_future: offset_lag > 0,
        };
        let logs = || vec![log("a", 0, 5, 0), log("b", 1, 6, 7)];
        let space = Some(Space { total_bytes: 100, usable_bytes: 60 });
        for version in VERSIONS {
            let online = DescribedDir { path: "/d".into(), space, logs: logs() };
            let described = result(online, version, |it| it.partition == 1);
            assert_eq!((described.error_code, described.topics.len()), (0, 1));
            let told = &described.topics[0].partitions[0];
            assert_eq!((told.partition_size, told.offset_lag), (6, 7));
            assert!(told.is_future_key);
            let want = if version < SPACE_SINCE { (-1, -1) } else { (100, 60) };
            assert_eq!((described.total_bytes, described.usable_bytes), want);
            let offline = DescribedDir { path: "/e".into(), space: None, logs: logs() };
            let offline = result(offline, version, |_| true);
            assert_eq!((offline.error_code, offline.topics.len()), (56, 0));
            let results = vec![described, offline];
            encodes(&DescribeLogDirsResponse::default().with_results(results), version);
        }
    }
}
