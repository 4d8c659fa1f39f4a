//! Offsets of members: stored and read by those who have the group's epoch, and by nobody else.

use kafka_protocol::messages::{
    OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest,
    offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic},
    offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic},
    offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics},
};
use klamm::base::ErrorCode;

use super::{GROUP, Member, Wish, settle, start, text};
use crate::support::Client;

pub(super) fn commit(
    client: &mut Client,
    version: i16,
    (member, epoch): (&str, i32),
    offset: i64,
) -> ErrorCode {
    let partition = OffsetCommitRequestPartition::default().with_committed_offset(offset);
    let topic = OffsetCommitRequestTopic::default()
        .with_name(text("t").into())
        .with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default()
        .with_group_id(text(GROUP).into())
        .with_member_id(text(member))
        .with_generation_id_or_member_epoch(epoch)
        .with_topics(vec![topic]);
    let response = client.call(version, &request);
    ErrorCode::from_code(response.topics[0].partitions[0].error_code)
}

/// The error of the group, or the offset.
pub(super) fn committed(
    client: &mut Client,
    member: Option<(&str, i32)>,
) -> Result<i64, ErrorCode> {
    let topic = OffsetFetchRequestTopics::default()
        .with_name(text("t").into())
        .with_partition_indexes(vec![0]);
    let mut group = OffsetFetchRequestGroup::default()
        .with_group_id(text(GROUP).into())
        .with_member_id(None)
        .with_member_epoch(-1)
        .with_topics(Some(vec![topic]));
    if let Some((id, epoch)) = member {
        group = group.with_member_id(Some(text(id))).with_member_epoch(epoch);
    }
    let group = client.call(9, &OffsetFetchRequest::default().with_groups(vec![group])).groups;
    match ErrorCode::from_code(group[0].error_code) {
        ErrorCode::None => Ok(group[0].topics[0].partitions[0].committed_offset),
        error => Err(error),
    }
}

#[test]
fn offsets_are_for_members_of_the_newest_epoch() {
    let (broker, mut client) = start();
    let mut members = [(); 2].map(|()| Member::joined(&broker, GROUP, Wish::topic("t")));
    settle(&mut members, 6);
    let (id, epoch) = (members[0].id.clone(), members[0].epoch);
    assert_eq!(commit(&mut client, 9, (&id, epoch), 5), ErrorCode::None);
    assert_eq!(commit(&mut client, 9, (&id, epoch - 1), 6), ErrorCode::StaleMemberEpoch);
    assert_eq!(commit(&mut client, 9, ("nobody", epoch), 6), ErrorCode::UnknownMemberId);
    assert_eq!(commit(&mut client, 8, (&id, epoch), 6), ErrorCode::UnsupportedVersion);
    assert_eq!(committed(&mut client, Some((&id, epoch))), Ok(5));
    assert_eq!(committed(&mut client, None), Ok(5), "an operator need not be a member");
    let stale = committed(&mut client, Some((&id, epoch - 1)));
    assert_eq!(stale, Err(ErrorCode::StaleMemberEpoch));
    let unknown = committed(&mut client, Some(("nobody", epoch)));
    assert_eq!(unknown, Err(ErrorCode::UnknownMemberId));
}

#[test]
fn an_operator_may_set_offsets_of_a_group_without_members_and_delete_those_that_nobody_reads() {
    let (broker, mut client) = start();
    let mut member = Member::joined(&broker, GROUP, Wish::topic("t"));
    assert_eq!(commit(&mut client, 9, ("", -1), 6), ErrorCode::UnknownMemberId);
    assert_eq!(delete(&mut client), ErrorCode::GroupSubscribedToTopic);
    member.leave(-1);
    assert_eq!(commit(&mut client, 9, ("", -1), 7), ErrorCode::None);
    assert_eq!(committed(&mut client, None), Ok(7));
    assert_eq!(delete(&mut client), ErrorCode::None);
    assert_eq!(committed(&mut client, None), Ok(-1));
}

fn delete(client: &mut Client) -> ErrorCode {
    let topic = OffsetDeleteRequestTopic::default()
        .with_name(text("t").into())
        .with_partitions(vec![OffsetDeleteRequestPartition::default()]);
    let request =
        OffsetDeleteRequest::default().with_group_id(text(GROUP).into()).with_topics(vec![topic]);
    let response = client.call(0, &request);
    assert_eq!(response.error_code, 0);
    ErrorCode::from_code(response.topics[0].partitions[0].error_code)
}
