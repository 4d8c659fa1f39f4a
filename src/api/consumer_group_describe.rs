//! `ConsumerGroupDescribe` (key 69), versions 0 to 1 (KIP-848; 1: types of members, KIP-1099).
//!
//! State, epochs and members of consumer groups. A topic that has been deleted is left out of assignments, as in Kafka.

use std::{collections::BTreeSet, ops::RangeInclusive};

use kafka_protocol::{
    messages::{
        ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, GroupId as WireId,
        consumer_group_describe_response::{
            Assignment, DescribedGroup, Member, TopicPartitions as Assigned,
        },
    },
    protocol::StrBytes,
};

use super::{
    Context, Rooms, authorized_operations, consumer_protocol, distinct::distinct, group_text,
    refusal::sentence,
};
use crate::{
    base::{ErrorCode, TopicId},
    group::{
        GroupError,
        consumer::{DescribedConsumerGroup, DescribedConsumerMember, TopicPartitions},
    },
    metadata::MetadataImage,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=1;

/// From here on it is told which protocol a member speaks.
const MEMBER_TYPE_SINCE: i16 = 1;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: ConsumerGroupDescribeRequest,
) -> ConsumerGroupDescribeResponse {
    let asked = distinct(request.group_ids, WireId::clone);
    let mut groups = Vec::with_capacity(asked.len());
    for id in asked {
        let described = match describe(rooms, &id).await {
            Ok(group) => {
                let described = answer(context.api_version, &rooms.quorum.image(), group);
                let operations = request.include_authorized_operations;
                described.with_authorized_operations(authorized(operations))
            }
            Err(refused) => self::refused(refused),
        };
        groups.push(described.with_group_id(id));
    }
    ConsumerGroupDescribeResponse::default().with_groups(groups)
}

fn authorized(asked: bool) -> i32 {
    if asked { authorized_operations::GROUP } else { authorized_operations::OMITTED }
}

/// The message is missing where the code says it all.
type Refused = (ErrorCode, Option<String>);

async fn describe(rooms: &Rooms, id: &WireId) -> Result<DescribedConsumerGroup, Refused> {
    if !consumer_protocol::is_served(rooms) {
        return Err((ErrorCode::UnsupportedVersion, None));
    }
    let group_id = group_text::group_id(id).map_err(|code| (code, None))?;
    if group_id.as_str().is_empty() {
        return Err((ErrorCode::InvalidGroupId, None));
    }
    rooms.groups.describe_consumer(group_id).await.map_err(|error| {
        let message = match &error {
            GroupError::GroupIdNotFound => Some(format!("Group {} not found.", id.as_str())),
            GroupError::OtherGroupType => {
                Some(format!("Group {} is not a consumer group.", id.as_str()))
            }
            _ => None,
        };
        (error.into(), message)
    })
}

fn refused((code, message): Refused) -> DescribedGroup {
    DescribedGroup::default()
        .with_error_code(code.code())
        .with_error_message(message.map(sentence))
        .with_authorized_operations(authorized_operations::OMITTED)
}

fn answer(version: i16, image: &MetadataImage, group: DescribedConsumerGroup) -> DescribedGroup {
    let members = group.members.into_iter().map(|it| member(version, image, it));
    DescribedGroup::default()
        .with_error_message(None)
        .with_group_state(StrBytes::from_static_str(group.state.name()))
        .with_group_epoch(group.group_epoch)
        .with_assignment_epoch(group.assignment_epoch)
        .with_assignor_name(group_text::wire(&group.assignor_name))
        .with_members(members.collect())
}

fn member(version: i16, image: &MetadataImage, it: DescribedConsumerMember) -> Member {
    let regex = it.subscribed_topic_regex.as_deref().unwrap_or_default();
    let names = it.subscribed_topic_names.iter().map(|it| group_text::wire(it.as_str()).into());
    let mut member = Member::default()
        .with_member_id(group_text::wire(it.member_id.as_str()))
        .with_instance_id(it.group_instance_id.as_deref().map(group_text::wire))
        .with_rack_id(it.rack_id.as_deref().map(group_text::wire))
        .with_member_epoch(it.member_epoch)
        .with_client_id(group_text::wire(&it.client_id))
        .with_client_host(group_text::wire(&it.client_host))
        .with_subscribed_topic_names(names.collect())
        // An empty one is none, as Kafka tells it.
        .with_subscribed_topic_regex(Some(group_text::wire(regex)))
        .with_assignment(assignment(image, it.assignment))
        .with_target_assignment(assignment(image, it.target_assignment));
    if version >= MEMBER_TYPE_SINCE {
        member.member_type = it.member_type;
    }
    member
}

fn assignment(image: &MetadataImage, partitions: TopicPartitions) -> Assignment {
    let of_topic = |(id, partitions): (TopicId, BTreeSet<i32>)| {
        let name = image.topic_names.get(&id)?;
        let topic = Assigned::default()
            .with_topic_id(id.0)
            .with_topic_name(group_text::wire(name.as_str()).into());
        Some(topic.with_partitions(partitions.into_iter().collect()))
    };
    let topics = partitions.0.into_iter().filter_map(of_topic);
    Assignment::default().with_topic_partitions(topics.collect())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{api::test_node::encodes, group::consumer::ConsumerGroupState};

    fn group() -> DescribedConsumerGroup {
        let [known, gone] = [1, 2].map(|it| TopicId(Uuid::from_u128(it)));
        let member = DescribedConsumerMember {
            member_id: "m".into(),
            group_instance_id: Some("i".into()),
            rack_id: Some("r".into()),
            member_epoch: 4,
            client_id: "c".into(),
            client_host: "/127.0.0.1".into(),
            subscribed_topic_names: ["known".into(), "gone".into()].into(),
            subscribed_topic_regex: None,
            assignment: [(known, 0), (gone, 0)].into_iter().collect(),
            target_assignment: [(known, 1), (known, 0)].into_iter().collect(),
            member_type: 1,
        };
        DescribedConsumerGroup {
            state: ConsumerGroupState::Reconciling,
            group_epoch: 5,
            assignment_epoch: 5,
            assignor_name: "uniform".into(),
            members: vec![member],
        }
    }

    #[test]
    fn assignments_have_the_names_of_topics_and_no_topic_that_is_gone() {
        let mut image = MetadataImage::default();
        image.topic_names.insert(TopicId(Uuid::from_u128(1)), "known".into());
        let told = answer(1, &image, group());
        let member = &told.members[0];
        let topics = |it: &Assignment| {
            let topics = it.topic_partitions.iter();
            topics.map(|it| (it.topic_name.to_string(), it.partitions.clone())).collect::<Vec<_>>()
        };
        assert_eq!(topics(&member.assignment), [("known".to_owned(), vec![0])]);
        assert_eq!(topics(&member.target_assignment), [("known".to_owned(), vec![0, 1])]);
        assert_eq!((told.group_state.as_str(), member.member_type), ("Reconciling", 1));
    }

    #[test]
    fn each_version_can_tell_of_a_group_and_of_none() {
        let missing = refused((ErrorCode::GroupIdNotFound, Some("Group g not found.".into())));
        for version in VERSIONS {
            let groups = vec![answer(version, &MetadataImage::default(), group()), missing.clone()];
            encodes(&ConsumerGroupDescribeResponse::default().with_groups(groups), version);
        }
    }
}
