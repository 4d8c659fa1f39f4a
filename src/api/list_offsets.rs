//! `ListOffsets` (key 2), versions 1 to 10.
//!
//! Turns a timestamp into an offset, for each partition asked. Served by the partition's leader.
//!
//! | version | adds                                                   | source   |
//! |---------|--------------------------------------------------------|----------|
//! | 1       | one offset, with its timestamp                         | KIP-79   |
//! | 2       | isolation level                                        | KIP-98   |
//! | 4       | leader epochs: the caller's to fence, the offset's     | KIP-320  |
//! | 6       | flexible encoding                                      | KIP-482  |
//! | 7       | timestamp −3: the record with the largest timestamp    | KIP-734  |
//! | 8       | timestamp −4: the earliest offset on this node         | KIP-405  |
//! | 9       | timestamp −5: the latest offset in tiered storage      | KIP-1005 |
//! | 10      | a timeout for tiered storage                           | KIP-1075 |
//!
//! Not served: tiered storage. So −4 is what −2 is, −5 finds nothing, and the timeout has no meaning.

use std::{collections::HashMap, ops::RangeInclusive, sync::Arc};

use kafka_protocol::messages::{
    ListOffsetsRequest, ListOffsetsResponse,
    list_offsets_request::ListOffsetsPartition,
    list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse},
};

use super::{Context, Rooms};
use crate::{
    base::{ErrorCode, LeaderEpoch, Offset, TimestampMs, TopicPartition},
    log::TimestampAndOffset,
    replica::{Isolation, Partition, ReplicaManager, off_workers},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=10;

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;

/// The version that brought each of them.
const SENTINELS: [(i64, i16); 5] =
    [(LATEST, 1), (EARLIEST, 1), (MAX_TIMESTAMP, 7), (EARLIEST_LOCAL, 8), (LATEST_TIERED, 9)];

/// From this version on, an answer tells the epoch of its offset.
const EPOCHS_SINCE: i16 = 4;

/// What was found. `None` is −1 on the wire, and no error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    timestamp: Option<TimestampMs>,
    offset: Option<Offset>,
    leader_epoch: Option<LeaderEpoch>,
}

/// Answers a request. A partition that fails does not fail its neighbours. A search reads from disk, so it is done off
/// the runtime's workers.
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: ListOffsetsRequest,
) -> ListOffsetsResponse {
    let (replicas, version) = (Arc::clone(&rooms.replicas), context.api_version);
    off_workers(move || answer(&replicas, version, &request)).await
}

fn answer(
    replicas: &ReplicaManager,
    version: i16,
    request: &ListOffsetsRequest,
) -> ListOffsetsResponse {
    let isolation = match request.isolation_level {
        1 => Isolation::ReadCommitted,
        _ => Isolation::ReadUncommitted,
    };
    let asked = count(request);
    let topics = request.topics.iter().map(|topic| {
        let name: &str = &topic.name;
        let partitions = topic.partitions.iter().map(|ask| {
            let found = match asked.get(&(name, ask.partition_index)) {
                Some(1) => {
                    let key = TopicPartition::new(name, ask.partition_index);
                    find(replicas, version, isolation, &key, ask)
                }
                _ => Err(ErrorCode::InvalidRequest),
            };
            partition_response(version, ask.partition_index, found)
        });
        ListOffsetsTopicResponse::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    });
    ListOffsetsResponse::default().with_topics(topics.collect())
}

/// How often each partition is asked for: twice is a mistake of the client's.
fn count(request: &ListOffsetsRequest) -> HashMap<(&str, i32), usize> {
    let mut counts = HashMap::new();
    for topic in &request.topics {
        for partition in &topic.partitions {
            *counts.entry((&**topic.name, partition.partition_index)).or_insert(0) += 1;
        }
    }
    counts
}

/// Finds one partition's offset; reads top to bottom in the order in which Kafka checks.
fn find(
    replicas: &ReplicaManager,
    version: i16,
    isolation: Isolation,
    key: &TopicPartition,
    ask: &ListOffsetsPartition,
) -> Result<Found, ErrorCode> {
    check_timestamp(ask.timestamp, version)?;
    let epoch = (ask.current_leader_epoch >= 0).then_some(LeaderEpoch(ask.current_leader_epoch));
    let partition = replicas.leader(key, epoch)?;
    let ceiling = visible_end(&partition, isolation);
    let log = partition.log();
    Ok(match ask.timestamp {
        LATEST => Found {
            offset: Some(ceiling),
            leader_epoch: Some(partition.leader_epoch()),
            timestamp: None,
        },
        EARLIEST | EARLIEST_LOCAL => Found {
            offset: Some(log.log_start_offset()),
            // A leader's first record would have its epoch, where there is none yet.
            leader_epoch: log.earliest_epoch().or(Some(partition.leader_epoch())),
            timestamp: None,
        },
        LATEST_TIERED => Found::default(),
        MAX_TIMESTAMP => log.max_timestamp()?.filter(|it| it.offset < ceiling).into(),
        target => log.offset_for_timestamp(TimestampMs(target), ceiling)?.into(),
    })
}

fn check_timestamp(timestamp: i64, version: i16) -> Result<(), ErrorCode> {
    let is_known = |&(sentinel, since)| sentinel == timestamp && version >= since;
    let is_served = timestamp >= 0 || SENTINELS.iter().any(is_known);
    is_served.then_some(()).ok_or(ErrorCode::UnsupportedVersion)
}

fn visible_end(partition: &Partition, isolation: Isolation) -> Offset {
    match isolation {
        Isolation::ReadUncommitted => partition.high_watermark(),
        Isolation::ReadCommitted => partition.last_stable_offset(),
    }
}

fn partition_response(
    version: i16,
    partition: i32,
    found: Result<Found, ErrorCode>,
) -> ListOffsetsPartitionResponse {
    let error = found.err().unwrap_or(ErrorCode::None);
    let found = found.unwrap_or_default();
    let epoch = found.leader_epoch.filter(|_| version >= EPOCHS_SINCE);
    ListOffsetsPartitionResponse::default()
        .with_partition_index(partition)
        .with_error_code(error.code())
        .with_timestamp(found.timestamp.map_or(-1, |it| it.0))
        .with_offset(found.offset.map_or(-1, |it| it.0))
        .with_leader_epoch(epoch.map_or(-1, |it| it.0))
}

impl From<Option<TimestampAndOffset>> for Found {
    fn from(found: Option<TimestampAndOffset>) -> Self {
        Self {
            timestamp: found.map(|it| it.timestamp),
            offset: found.map(|it| it.offset),
            leader_epoch: found.map(|it| it.leader_epoch),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::{
        messages::{TopicName, list_offsets_request::ListOffsetsTopic},
        protocol::{Encodable, StrBytes},
    };

    use super::*;
    use crate::{config::Config, telemetry::Metrics};

    fn request(partitions: &[(i32, i64)]) -> ListOffsetsRequest {
        let asks = partitions.iter().map(|&(partition, timestamp)| {
            ListOffsetsPartition::default()
                .with_partition_index(partition)
                .with_timestamp(timestamp)
        });
        let topic = ListOffsetsTopic::default()
            .with_name(TopicName(StrBytes::from_static_str("a")))
            .with_partitions(asks.collect());
        ListOffsetsRequest::default().with_topics(vec![topic])
    }

    #[test]
    fn a_timestamp_below_zero_is_served_from_its_version_on() {
        for (timestamp, since) in SENTINELS {
            for version in VERSIONS {
                assert_eq!(check_timestamp(timestamp, version).is_ok(), version >= since);
            }
        }
        assert_eq!(check_timestamp(-6, 10), Err(ErrorCode::UnsupportedVersion));
        assert_eq!(check_timestamp(0, 1), Ok(()));
    }

    #[test]
    fn an_answer_encodes_at_every_version_and_a_partition_asked_twice_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.log.dirs = vec![root.path().to_owned()];
        let replicas = ReplicaManager::start(&Arc::new(config), &Metrics::default()).unwrap();
        for version in VERSIONS {
            let response = answer(&replicas, version, &request(&[(0, -1), (1, -2), (1, 5)]));
            let codes: Vec<_> =
                response.topics[0].partitions.iter().map(|it| it.error_code).collect();
            assert_eq!(codes, [3, 42, 42]);
            response.encode(&mut BytesMut::new(), version).unwrap();
        }
    }

    #[test]
    fn an_epoch_is_told_only_where_the_version_has_it() {
        let found = Found { leader_epoch: Some(LeaderEpoch(7)), ..Found::default() };
        for version in VERSIONS {
            let response = partition_response(version, 0, Ok(found));
            assert_eq!(response.leader_epoch, if version >= 4 { 7 } else { -1 });
            response.encode(&mut BytesMut::new(), version).unwrap();
        }
    }
}
