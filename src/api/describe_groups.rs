//! `DescribeGroups` (key 15), versions 0 to 6.
//!
//! State, protocol and members of groups. Metadata and assignments are told of stable groups only, as Kafka does.
//!
//! | version | adds                                                      | source   |
//! |---------|-----------------------------------------------------------|----------|
//! | 3       | what the client may do with the group                     | KIP-430  |
//! | 4       | static members                                            | KIP-345  |
//! | 5       | flexible encoding                                         | KIP-482  |
//! | 6       | GROUP_ID_NOT_FOUND with a message, instead of state Dead  | KIP-1043 |
//!
//! A group of the consumer protocol is none here: `ConsumerGroupDescribe` tells of it.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{
    DescribeGroupsRequest, DescribeGroupsResponse, GroupId as WireId,
    describe_groups_response::{DescribedGroup, DescribedGroupMember},
};

use super::{
    Context, Rooms, authorized_operations, distinct::distinct, group_text, refusal::sentence,
};
use crate::{
    base::ErrorCode,
    group::{self, GroupError, classic::State},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=6;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DescribeGroupsRequest,
) -> DescribeGroupsResponse {
    let asked = distinct(request.groups, WireId::clone);
    let mut groups = Vec::with_capacity(asked.len());
    for id in asked {
        let mut described = match describe(rooms, &id).await {
            Ok(group) => answer(context, group),
            Err(refusal) => refused(context, refusal),
        };
        if request.include_authorized_operations {
            described.authorized_operations = authorized_operations::GROUP;
        }
        groups.push(described.with_group_id(id));
    }
    DescribeGroupsResponse::default().with_groups(groups)
}

/// With what is said of a group that is not there.
type Refused = (ErrorCode, Option<String>);

async fn describe(rooms: &Rooms, id: &WireId) -> Result<group::DescribedGroup, Refused> {
    let group_id = group_text::group_id(id).map_err(|code| (code, None))?;
    rooms.groups.describe(group_id).await.map_err(|error| {
        let id = id.as_str();
        let message = match &error {
            GroupError::GroupIdNotFound => Some(format!("Group {id} not found.")),
            GroupError::OtherGroupType => Some(format!("Group {id} is not a classic group.")),
            _ => None,
        };
        (error.into(), message)
    })
}

fn answer(context: &Context, group: group::DescribedGroup) -> DescribedGroup {
    let members = group.members.into_iter().map(|it| member(context.api_version, it));
    DescribedGroup::default()
        .with_group_state(group_text::wire(group.state.name()))
        .with_protocol_type(group_text::wire(&group.protocol_type))
        .with_protocol_data(group_text::wire(&group.protocol))
        .with_members(members.collect())
}

fn member(version: i16, it: group::DescribedMember) -> DescribedGroupMember {
    let mut member = DescribedGroupMember::default()
        .with_member_id(group_text::wire(it.member_id.as_str()))
        .with_client_id(group_text::wire(&it.client_id))
        .with_client_host(group_text::wire(&it.client_host))
        .with_member_metadata(it.metadata)
        .with_member_assignment(it.assignment);
    if version >= 4 {
        member.group_instance_id = it.group_instance_id.as_deref().map(group_text::wire);
    }
    member
}

/// A group that is not there, or is of another type, is dead, and before version 6 that is no error.
fn refused(context: &Context, (error, message): Refused) -> DescribedGroup {
    let missing = error == ErrorCode::GroupIdNotFound;
    let mut group = DescribedGroup::default();
    if missing {
        group.group_state = group_text::wire(State::Dead.name());
    }
    if context.api_version >= 6 {
        group.error_message = message.map(sentence);
    }
    if !missing || context.api_version >= 6 {
        group.error_code = error.code();
    }
    group
}

#[cfg(test)]
mod tests {
    use bytes::{Bytes, BytesMut};
    use kafka_protocol::protocol::Encodable;

    use super::*;

    fn group() -> group::DescribedGroup {
        let member = group::DescribedMember {
            member_id: "m".into(),
            group_instance_id: Some("i".into()),
            client_id: "c".into(),
            client_host: "/127.0.0.1".into(),
            metadata: Bytes::new(),
            assignment: Bytes::new(),
        };
        group::DescribedGroup {
            state: State::Stable,
            protocol_type: "consumer".into(),
            protocol: "range".into(),
            members: vec![member],
        }
    }

    #[test]
    fn each_version_can_tell_of_a_group_and_of_none() {
        for version in VERSIONS {
            let context = Context::of_version(version);
            let missing =
                refused(&context, (ErrorCode::GroupIdNotFound, Some("Group g not found.".into())));
            assert_eq!(missing.group_state.as_str(), "Dead");
            assert_eq!(missing.error_code != 0, version >= 6);
            let groups = vec![answer(&context, group()), missing];
            let response = DescribeGroupsResponse::default().with_groups(groups);
            response.encode(&mut BytesMut::new(), version).unwrap();
        }
    }
}
