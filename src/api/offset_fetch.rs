//! `OffsetFetch` (key 9), versions 1 to 9.
//!
//! How far a group has read. A partition without a committed offset has −1, which is no error.
//!
//! | version | adds                                              | source  |
//! |---------|---------------------------------------------------|---------|
//! | 2       | all partitions of a group, an error for the whole | KIP-88  |
//! | 5       | leader epochs                                     | KIP-320 |
//! | 6       | flexible encoding                                 | KIP-482 |
//! | 7       | stable offsets only                               | KIP-447 |
//! | 8       | many groups at once                               | KIP-709 |
//! | 9       | the member's id and epoch                         | KIP-848 |
//!
//! `require_stable` changes nothing while there are no transactions: every offset is stable. Version 10
//! (topic ids) is not announced: Kafka 4.1 keeps it unstable.

use std::{collections::BTreeMap, ops::RangeInclusive};

use kafka_protocol::{
    messages::{
        OffsetFetchRequest, OffsetFetchResponse, TopicName as WireName,
        offset_fetch_request::OffsetFetchRequestGroup,
        offset_fetch_response::{
            OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
            OffsetFetchResponseTopic, OffsetFetchResponseTopics,
        },
    },
    protocol::StrBytes,
};

use super::{Context, Rooms, distinct::distinct, group_text};
use crate::{
    base::{ErrorCode, MemberId, TopicName, TopicPartition},
    group::{CommittedOffset, FetchOffsets},
    metadata::MetadataImage,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=9;

/// From here on a request holds many groups.
const BATCHED: i16 = 8;

/// From here on an error can be told once for all partitions.
const TOP_LEVEL_ERROR: i16 = 2;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: OffsetFetchRequest,
) -> OffsetFetchResponse {
    if context.api_version >= BATCHED {
        let asked = distinct(request.groups, |it| it.group_id.clone());
        let mut groups = Vec::with_capacity(asked.len());
        for group in asked {
            groups.push(answer_group(rooms, group).await);
        }
        return OffsetFetchResponse::default().with_groups(groups);
    }
    let asked = request.topics.map(|topics| {
        let topics = topics.into_iter();
        topics.map(|it| (it.name, it.partition_indexes)).collect::<Vec<_>>()
    });
    match fetch(rooms, &request.group_id, NOBODY, asked.as_deref()).await {
        Ok(topics) => {
            let topics = topics.into_iter().map(|it| topic(context.api_version, it));
            OffsetFetchResponse::default().with_topics(topics.collect())
        }
        Err(error) if context.api_version >= TOP_LEVEL_ERROR => {
            OffsetFetchResponse::default().with_error_code(error.code())
        }
        Err(error) => refused_each(asked.unwrap_or_default(), error),
    }
}

async fn answer_group(rooms: &Rooms, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup {
    let asked = group.topics.map(|topics| {
        let topics = topics.into_iter();
        topics.map(|it| (it.name, it.partition_indexes)).collect::<Vec<_>>()
    });
    let answer = OffsetFetchResponseGroup::default();
    let member = (group.member_id.as_ref(), group.member_epoch);
    let answer = match fetch(rooms, &group.group_id, member, asked.as_deref()).await {
        Ok(topics) => answer.with_topics(topics.into_iter().map(topics_entry).collect()),
        Err(error) => answer.with_error_code(error.code()),
    };
    answer.with_group_id(group.group_id)
}

/// A member's id and epoch, from version 9 on.
type Fetcher<'a> = (Option<&'a StrBytes>, i32);

/// Who does not tell.
const NOBODY: Fetcher<'_> = (None, -1);

/// A topic's partitions with what is committed.
type Topic = (WireName, Vec<(i32, Option<CommittedOffset>)>);

/// In the order asked, or sorted when all are asked for.
async fn fetch(
    rooms: &Rooms,
    group_id: &StrBytes,
    (member_id, member_epoch): Fetcher<'_>,
    asked: Option<&[(WireName, Vec<i32>)]>,
) -> Result<Vec<Topic>, ErrorCode> {
    let group_id = group_text::group_id(group_id)?;
    let partitions = asked.map(|topics| {
        let of_topic = |(name, partitions): &(WireName, Vec<i32>)| {
            let topic = TopicName::from(name.as_str());
            let partitions = partitions.iter();
            partitions
                .map(move |&partition| TopicPartition { topic: topic.clone(), partition })
                .collect::<Vec<_>>()
        };
        topics.iter().flat_map(of_topic).collect()
    });
    let member_id = group_text::copy_nullable(member_id)?.map(MemberId);
    let request = FetchOffsets { group_id, member_id, member_epoch, partitions };
    let found = rooms.groups.fetch(request).await?;
    let image = rooms.quorum.image();
    let mut committed: Vec<_> =
        found.into_iter().map(|(at, it)| (at, it.filter(|it| is_of(&image, it)))).collect();
    if let Some(topics) = asked {
        return Ok(in_order(topics, committed));
    }
    committed.retain(|(_, it)| it.is_some());
    Ok(by_topic(committed))
}

/// Whether the offset was meant for the topic that has the name now: one made again begins anew.
fn is_of(image: &MetadataImage, committed: &CommittedOffset) -> bool {
    committed.topic_id.is_none_or(|id| image.topic_names.contains_key(&id))
}

fn in_order(
    asked: &[(WireName, Vec<i32>)],
    committed: Vec<(TopicPartition, Option<CommittedOffset>)>,
) -> Vec<Topic> {
    let mut rest = committed.into_iter().map(|(at, it)| (at.partition, it));
    let topics = asked.iter();
    topics.map(|(name, it)| (name.clone(), rest.by_ref().take(it.len()).collect())).collect()
}

fn by_topic(committed: Vec<(TopicPartition, Option<CommittedOffset>)>) -> Vec<Topic> {
    let mut topics: BTreeMap<TopicName, Vec<(i32, Option<CommittedOffset>)>> = BTreeMap::new();
    for (at, it) in committed {
        topics.entry(at.topic).or_default().push((at.partition, it));
    }
    topics.into_iter().map(|(name, it)| (group_text::wire(name.as_str()).into(), it)).collect()
}

fn topic(version: i16, (name, partitions): Topic) -> OffsetFetchResponseTopic {
    let partitions = partitions.into_iter().map(|(index, it)| {
        let (offset, epoch, metadata) = told(it);
        let mut partition = OffsetFetchResponsePartition::default()
            .with_partition_index(index)
            .with_committed_offset(offset)
            .with_metadata(Some(metadata));
        if version >= 5 {
            partition.committed_leader_epoch = epoch;
        }
        partition
    });
    OffsetFetchResponseTopic::default().with_name(name).with_partitions(partitions.collect())
}

fn topics_entry((name, partitions): Topic) -> OffsetFetchResponseTopics {
    let partitions = partitions.into_iter().map(|(index, it)| {
        let (offset, epoch, metadata) = told(it);
        OffsetFetchResponsePartitions::default()
            .with_partition_index(index)
            .with_committed_offset(offset)
            .with_committed_leader_epoch(epoch)
            .with_metadata(Some(metadata))
    });
    OffsetFetchResponseTopics::default().with_name(name).with_partitions(partitions.collect())
}

fn told(committed: Option<CommittedOffset>) -> (i64, i32, StrBytes) {
    match committed {
        Some(it) => {
            let epoch = it.leader_epoch.map_or(-1, |it| it.0);
            (it.offset.0, epoch, group_text::wire(&it.metadata))
        }
        None => (-1, -1, StrBytes::default()),
    }
}

fn refused_each(asked: Vec<(WireName, Vec<i32>)>, error: ErrorCode) -> OffsetFetchResponse {
    let topics = asked.into_iter().map(|(name, partitions)| {
        let partitions = partitions.into_iter().map(|index| {
            OffsetFetchResponsePartition::default()
                .with_partition_index(index)
                .with_committed_offset(-1)
                .with_metadata(Some(StrBytes::default()))
                .with_error_code(error.code())
        });
        OffsetFetchResponseTopic::default().with_name(name).with_partitions(partitions.collect())
    });
    OffsetFetchResponse::default().with_topics(topics.collect())
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::protocol::Encodable;

    use super::*;
    use crate::base::{LeaderEpoch, Offset, TimestampMs};

    fn committed() -> CommittedOffset {
        CommittedOffset {
            offset: Offset(7),
            leader_epoch: Some(LeaderEpoch(1)),
            metadata: "m".into(),
            commit_timestamp: TimestampMs(0),
            expire_timestamp: None,
            topic_id: None,
        }
    }

    #[test]
    fn each_version_can_tell_an_offset_and_its_absence() {
        let found: Topic = (group_text::wire("t").into(), vec![(0, Some(committed())), (1, None)]);
        for version in VERSIONS {
            let response = if version >= BATCHED {
                let group = OffsetFetchResponseGroup::default()
                    .with_topics(vec![topics_entry(found.clone())]);
                OffsetFetchResponse::default().with_groups(vec![group])
            } else {
                OffsetFetchResponse::default().with_topics(vec![topic(version, found.clone())])
            };
            response.encode(&mut BytesMut::new(), version).unwrap();
        }
        let asked = vec![(group_text::wire("t").into(), vec![0])];
        let refused = refused_each(asked, ErrorCode::NotCoordinator);
        refused.encode(&mut BytesMut::new(), 1).unwrap();
    }

    #[test]
    fn an_offset_of_a_topic_that_is_gone_is_nobody_s() {
        let image = MetadataImage::default();
        assert!(is_of(&image, &committed()));
        let id = crate::base::TopicId(uuid::Uuid::from_u128(1));
        assert!(!is_of(&image, &CommittedOffset { topic_id: Some(id), ..committed() }));
    }

    #[test]
    fn answers_come_in_the_order_asked() {
        let names = ["b", "a"].map(|it| WireName::from(group_text::wire(it)));
        let asked = [(names[0].clone(), vec![1, 0]), (names[1].clone(), vec![5])];
        let found = [("b", 1), ("b", 0), ("a", 5)];
        let found = found.map(|(topic, index)| (TopicPartition::new(topic, index), None));
        let told = in_order(&asked, found.into());
        assert_eq!(told[0], (names[0].clone(), vec![(1, None), (0, None)]));
        assert_eq!(told[1], (names[1].clone(), vec![(5, None)]));
    }
}
