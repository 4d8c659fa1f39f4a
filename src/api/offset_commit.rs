//! `OffsetCommit` (key 8), versions 2 to 9.
//!
//! Stores how far a group has read. A partition that fails does not fail its neighbours.
//!
//! | version | adds                                                   | source  |
//! |---------|--------------------------------------------------------|---------|
//! | 2 to 4  | a retention time of the client's                       |         |
//! | 5       | takes it away again                                    | KIP-211 |
//! | 6       | the leader epoch of the last record read               | KIP-320 |
//! | 7       | static members                                         | KIP-345 |
//! | 8       | flexible encoding                                      | KIP-482 |
//! | 9       | GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH              | KIP-848 |
//!
//! Version 10 (topic ids) is not announced: Kafka 4.1 keeps it unstable.

use std::{collections::BTreeMap, ops::RangeInclusive};

use kafka_protocol::messages::{
    OffsetCommitRequest, OffsetCommitResponse,
    offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic},
    offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic},
};

use super::{Context, Rooms, group_text};
use crate::{
    base::{ErrorCode, LeaderEpoch, MemberId, Offset, TopicName, TopicPartition},
    group::{CommitOffsets, OffsetToCommit},
    metadata::{MetadataImage, TopicImage},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 2..=9;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: OffsetCommitRequest,
) -> OffsetCommitResponse {
    let image = rooms.quorum.image();
    let codes = match read(context, &image, &request) {
        Ok(commit) => store(rooms, commit).await,
        Err(error) => Err(error),
    };
    let topics = request.topics.iter().map(|it| answer(&image, it, &codes)).collect();
    OffsetCommitResponse::default().with_topics(topics)
}

fn read(
    context: &Context,
    image: &MetadataImage,
    request: &OffsetCommitRequest,
) -> Result<CommitOffsets, ErrorCode> {
    let offsets = request.topics.iter().filter_map(|topic| {
        let known = image.topic(topic.name.as_str())?;
        let exists = |it: &&OffsetCommitRequestPartition| has_partition(known, it.partition_index);
        Some(topic.partitions.iter().filter(exists).map(|it| offset(known, it)))
    });
    Ok(CommitOffsets {
        group_id: group_text::group_id(&request.group_id)?,
        member_id: MemberId(group_text::copy(&request.member_id)?),
        group_instance_id: group_text::copy_nullable(request.group_instance_id.as_ref())?,
        generation_id: request.generation_id_or_member_epoch,
        offsets: offsets.flatten().collect(),
        retention_time_ms: Some(request.retention_time_ms).filter(|&ms| ms >= 0),
        tells_missing_group: context.api_version >= 9,
    })
}

fn has_partition(topic: &TopicImage, index: i32) -> bool {
    usize::try_from(index).is_ok_and(|it| it < topic.partitions.len())
}

fn offset(topic: &TopicImage, it: &OffsetCommitRequestPartition) -> OffsetToCommit {
    OffsetToCommit {
        topic_partition: TopicPartition {
            topic: topic.name.clone(),
            partition: it.partition_index,
        },
        topic_id: Some(topic.id),
        offset: Offset(it.committed_offset),
        leader_epoch: Some(it.committed_leader_epoch).filter(|&it| it >= 0).map(LeaderEpoch),
        metadata: it.committed_metadata.as_ref().map_or_else(|| "".into(), |it| it.as_str().into()),
    }
}

type Codes = BTreeMap<TopicPartition, ErrorCode>;

/// A code for each offset, or one for all. Without offsets (nothing that is named exists) nothing is asked.
async fn store(rooms: &Rooms, commit: CommitOffsets) -> Result<Codes, ErrorCode> {
    let partitions: Vec<_> = commit.offsets.iter().map(|it| it.topic_partition.clone()).collect();
    if partitions.is_empty() {
        return Ok(Codes::new());
    }
    let results = rooms.groups.commit(commit).await?;
    let codes = results.into_iter().map(|it| it.err().map_or(ErrorCode::None, Into::into));
    Ok(partitions.into_iter().zip(codes).collect())
}

fn answer(
    image: &MetadataImage,
    topic: &OffsetCommitRequestTopic,
    codes: &Result<Codes, ErrorCode>,
) -> OffsetCommitResponseTopic {
    let name = TopicName::from(topic.name.as_str());
    let known = image.topic(name.as_str());
    let partitions = topic.partitions.iter().map(|it| {
        let at = TopicPartition { topic: name.clone(), partition: it.partition_index };
        let code = match codes {
            _ if !known.is_some_and(|topic| has_partition(topic, it.partition_index)) => {
                ErrorCode::UnknownTopicOrPartition
            }
            Ok(codes) => codes.get(&at).copied().unwrap_or(ErrorCode::UnknownTopicOrPartition),
            Err(error) => *error,
        };
        OffsetCommitResponsePartition::default()
            .with_partition_index(it.partition_index)
            .with_error_code(code.code())
    });
    OffsetCommitResponseTopic::default()
        .with_name(topic.name.clone())
        .with_partitions(partitions.collect())
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::protocol::Encodable;

    use super::*;
    use crate::metadata::PartitionImage;

    /// One topic with one partition.
    fn image() -> MetadataImage {
        let partition = PartitionImage {
            leader: None,
            leader_epoch: LeaderEpoch(0),
            partition_epoch: 0,
            replicas: Vec::new(),
            isr: Vec::new(),
        };
        let known = TopicImage {
            id: crate::base::TopicId(uuid::Uuid::from_u128(1)),
            name: "known".into(),
            partitions: vec![partition],
        };
        let mut image = MetadataImage::default();
        image.topics.insert("known".into(), known.into());
        image
    }

    #[test]
    fn what_is_not_there_does_not_fail_its_neighbours() {
        let image = image();
        let asked = |name| {
            let partition = |it| OffsetCommitRequestPartition::default().with_partition_index(it);
            OffsetCommitRequestTopic::default()
                .with_name(group_text::wire(name).into())
                .with_partitions([-1, 0, 1].map(partition).into())
        };
        let request = OffsetCommitRequest::default()
            .with_group_id(group_text::wire("g").into())
            .with_topics(vec![asked("known"), asked("unknown")]);
        let commit = read(&Context::of_version(9), &image, &request).unwrap();
        assert_eq!(commit.offsets.len(), 1);
        let stored = Codes::from([(TopicPartition::new("known", 0), ErrorCode::None)]);
        let stored = Ok(stored);
        let topics: Vec<_> = request.topics.iter().map(|it| answer(&image, it, &stored)).collect();
        let codes: Vec<_> =
            topics.iter().flat_map(|it| &it.partitions).map(|it| it.error_code).collect();
        let unknown = ErrorCode::UnknownTopicOrPartition.code();
        assert_eq!(codes, [unknown, 0, unknown, unknown, unknown, unknown]);
        for version in VERSIONS {
            let response = OffsetCommitResponse::default().with_topics(topics.clone());
            response.encode(&mut BytesMut::new(), version).unwrap();
        }
    }
}
