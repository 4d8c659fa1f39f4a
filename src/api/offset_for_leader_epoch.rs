//! `OffsetForLeaderEpoch` (key 23), versions 2 to 4.
//!
//! Tells where a leader's records ended, so that a reader finds out whether it has read what was truncated since
//! (KIP-101, KIP-320). Served by the partition's leader.
//!
//! | version | adds                                | source  |
//! |---------|-------------------------------------|---------|
//! | 2       | the caller's leader epoch, to fence | KIP-320 |
//! | 3       | the id of a follower that asks      | KIP-392 |
//! | 4       | flexible encoding                   | KIP-482 |

use std::ops::RangeInclusive;

use kafka_protocol::messages::{
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse,
    offset_for_leader_epoch_request::OffsetForLeaderPartition,
    offset_for_leader_epoch_response::{EpochEndOffset, OffsetForLeaderTopicResult},
};

use super::{Context, Rooms};
use crate::{
    base::{ErrorCode, LeaderEpoch, Offset, TopicPartition},
    replica::ReplicaManager,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 2..=4;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    _: &Context,
    request: OffsetForLeaderEpochRequest,
) -> OffsetForLeaderEpochResponse {
    let topics = request.topics.into_iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|asked| {
            let key = TopicPartition::new(&**topic.topic, asked.partition);
            partition_result(asked.partition, end_offset(&rooms.replicas, &key, asked))
        });
        let partitions = partitions.collect();
        OffsetForLeaderTopicResult::default().with_topic(topic.topic).with_partitions(partitions)
    });
    OffsetForLeaderEpochResponse::default().with_topics(topics.collect())
}

/// The epoch asked for or the last one before it, and the offset after its last record; `None` where the log knows of none.
fn end_offset(
    replicas: &ReplicaManager,
    key: &TopicPartition,
    asked: &OffsetForLeaderPartition,
) -> Result<Option<(LeaderEpoch, Offset)>, ErrorCode> {
    let current = LeaderEpoch(asked.current_leader_epoch);
    let current = (current.0 >= 0).then_some(current);
    let partition = replicas.leader(key, current)?;
    Ok(partition.log().end_offset_for_epoch(LeaderEpoch(asked.leader_epoch)))
}

fn partition_result(
    partition: i32,
    found: Result<Option<(LeaderEpoch, Offset)>, ErrorCode>,
) -> EpochEndOffset {
    let result = EpochEndOffset::default().with_partition(partition);
    match found {
        Ok(Some((epoch, end))) => result.with_leader_epoch(epoch.0).with_end_offset(end.0),
        Ok(None) => result,
        Err(code) => result.with_error_code(code.code()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::test_node::encodes;

    #[test]
    fn an_answer_without_an_epoch_or_with_an_error_has_minus_one() {
        let found = Some((LeaderEpoch(3), Offset(9)));
        for (found, want) in [
            (Ok(found), (0, 3, 9)),
            (Ok(None), (0, -1, -1)),
            (Err(ErrorCode::FencedLeaderEpoch), (74, -1, -1)),
        ] {
            let result = partition_result(4, found);
            assert_eq!((result.error_code, result.leader_epoch, result.end_offset), want);
            let topic = OffsetForLeaderTopicResult::default().with_partitions(vec![result]);
            let response = OffsetForLeaderEpochResponse::default().with_topics(vec![topic]);
            VERSIONS.for_each(|version| encodes(&response, version));
        }
    }
}
