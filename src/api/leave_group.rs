//! `LeaveGroup` (key 13), versions 0 to 5.
//!
//! Members go, or an operator removes them.
//!
//! | version | adds                                       | source  |
//! |---------|--------------------------------------------|---------|
//! | 3       | many members at once, static ones by name  | KIP-345 |
//! | 4       | flexible encoding                          | KIP-482 |
//! | 5       | the reason, which is logged                | KIP-800 |

use std::ops::RangeInclusive;

use kafka_protocol::messages::{
    LeaveGroupRequest, LeaveGroupResponse, leave_group_request::MemberIdentity,
    leave_group_response::MemberResponse,
};

use super::{Context, Rooms, group_text};
use crate::{
    base::{ErrorCode, MemberId},
    group::{GroupError, classic::LeavingMember},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=5;

/// From here on a request holds many members, each with a result.
const BATCHED: i16 = 3;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: LeaveGroupRequest,
) -> LeaveGroupResponse {
    let members = if context.api_version >= BATCHED {
        request.members.clone()
    } else {
        vec![MemberIdentity::default().with_member_id(request.member_id.clone())]
    };
    match leave(rooms, &request, &members).await {
        Ok(results) => answer(context, &members, results),
        // As in Kafka, a group that there is not is no error of its own.
        Err(ErrorCode::UnknownMemberId) => answer(context, &members, unknown(members.len())),
        Err(error) => LeaveGroupResponse::default().with_error_code(error.code()),
    }
}

async fn leave(
    rooms: &Rooms,
    request: &LeaveGroupRequest,
    members: &[MemberIdentity],
) -> Result<Vec<Result<(), GroupError>>, ErrorCode> {
    let group_id = group_text::group_id(&request.group_id)?;
    let leaving = members.iter().map(|it| {
        if let Some(reason) = &it.reason {
            tracing::debug!(group = %group_id, member = %it.member_id, %reason, "a member leaves");
        }
        Ok(LeavingMember {
            member_id: MemberId(group_text::copy(&it.member_id)?),
            group_instance_id: group_text::copy_nullable(it.group_instance_id.as_ref())?,
        })
    });
    let leaving = leaving.collect::<Result<_, ErrorCode>>()?;
    Ok(rooms.groups.leave(group_id.clone(), leaving).await?)
}

fn unknown(members: usize) -> Vec<Result<(), GroupError>> {
    std::iter::repeat_with(|| Err(GroupError::UnknownMemberId)).take(members).collect()
}

fn answer(
    context: &Context,
    members: &[MemberIdentity],
    results: Vec<Result<(), GroupError>>,
) -> LeaveGroupResponse {
    let codes = results.into_iter().map(|it| it.err().map_or(ErrorCode::None, Into::into).code());
    if context.api_version < BATCHED {
        let code = codes.into_iter().next().unwrap_or(0);
        return LeaveGroupResponse::default().with_error_code(code);
    }
    let members = members.iter().zip(codes).map(|(it, code)| {
        MemberResponse::default()
            .with_member_id(it.member_id.clone())
            .with_group_instance_id(it.group_instance_id.clone())
            .with_error_code(code)
    });
    LeaveGroupResponse::default().with_members(members.collect())
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::protocol::{Encodable, StrBytes};

    use super::*;

    #[test]
    fn older_versions_tell_the_one_result_for_the_whole() {
        let member = MemberIdentity::default()
            .with_member_id(StrBytes::from_static_str("m"))
            .with_group_instance_id(Some(StrBytes::from_static_str("i")));
        for version in VERSIONS {
            let context = Context::of_version(version);
            let results = vec![Err(GroupError::UnknownMemberId)];
            let response = answer(&context, std::slice::from_ref(&member), results);
            response.encode(&mut BytesMut::new(), version).unwrap();
            let unknown = ErrorCode::UnknownMemberId.code();
            let told = (response.error_code, response.members.first().map(|it| it.error_code));
            let want = if version < 3 { (unknown, None) } else { (0, Some(unknown)) };
            assert_eq!(told, want, "version {version}");
        }
    }
}
