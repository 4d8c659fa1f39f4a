//! `JoinGroup` (key 11), versions 0 to 9.
//!
//! A member comes in, or comes again because the group rebalances. The answer waits until all have joined.
//!
//! | version | adds                                                  | source  |
//! |---------|-------------------------------------------------------|---------|
//! | 1       | a rebalance timeout besides the session's             | KIP-62  |
//! | 4       | a new member gets its id first (MEMBER_ID_REQUIRED)   | KIP-394 |
//! | 5       | static members                                        | KIP-345 |
//! | 6       | flexible encoding                                     | KIP-482 |
//! | 7       | the protocol's type in the answer                     | KIP-559 |
//! | 8       | the reason, which is logged                           | KIP-800 |
//! | 9       | a returning static leader may skip the assignment     | KIP-814 |

use std::ops::RangeInclusive;

use bytes::Bytes;
use kafka_protocol::messages::{
    JoinGroupRequest, JoinGroupResponse, join_group_response::JoinGroupResponseMember,
};
use uuid::Uuid;

use super::{Context, Rooms, group_text};
use crate::{
    base::{ErrorCode, MemberId},
    group::{
        GroupError,
        classic::{JoinRequest, Joined, JoinedMember, Protocol},
    },
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=9;

/// Bytes of the client's id that go into a member's.
const CLIENT_ID_BYTES_MAX: usize = 1_024;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: JoinGroupRequest,
) -> JoinGroupResponse {
    // A copy: the answer may be long in coming, and a slice would keep the whole request.
    let asked_as = request.member_id.to_string();
    if let Some(reason) = &request.reason {
        tracing::debug!(group = %request.group_id.0, member = %asked_as, %reason, "a member joins");
    }
    let joined = match read(context, request) {
        Ok(request) => rooms.groups.join(request).await,
        Err(error) => return refused(context, error, asked_as.as_str()),
    };
    match joined {
        Ok(joined) => answer(context, joined),
        Err(GroupError::MemberIdRequired(id)) => {
            refused(context, ErrorCode::MemberIdRequired, id.as_str())
        }
        Err(GroupError::GroupMaxSizeReached) => {
            refused(context, ErrorCode::GroupMaxSizeReached, "")
        }
        Err(error) => refused(context, error.into(), asked_as.as_str()),
    }
}

fn read(context: &Context, request: JoinGroupRequest) -> Result<JoinRequest, ErrorCode> {
    let version = context.api_version;
    let group_instance_id = group_text::copy_nullable(request.group_instance_id.as_ref())?;
    let protocols = request.protocols.iter().map(|it| {
        let name = group_text::copy(&it.name)?;
        Ok(Protocol { name, metadata: Bytes::copy_from_slice(&it.metadata) })
    });
    Ok(JoinRequest {
        group_id: group_text::group_id(&request.group_id)?,
        member_id: MemberId(group_text::copy(&request.member_id)?),
        client_id: context.client_id.clone(),
        client_host: format!("/{}", context.client_host).into(),
        session_timeout_ms: request.session_timeout_ms,
        rebalance_timeout_ms: match version {
            0 => request.session_timeout_ms,
            _ => request.rebalance_timeout_ms,
        },
        protocol_type: group_text::copy(&request.protocol_type)?,
        protocols: protocols.collect::<Result<_, ErrorCode>>()?,
        requires_known_member_id: version >= 4,
        supports_skip_assignment: version >= 9,
        new_member_id: new_member_id(group_instance_id.as_deref().unwrap_or(&context.client_id)),
        group_instance_id,
        assignor: None,
    })
}

/// Told apart by random bits, and by its beginning for people.
fn new_member_id(who: &str) -> MemberId {
    let beginning = who.get(..who.floor_char_boundary(CLIENT_ID_BYTES_MAX)).unwrap_or_default();
    MemberId(format!("{beginning}-{}", Uuid::new_v4()).into())
}

fn answer(context: &Context, joined: Joined) -> JoinGroupResponse {
    let version = context.api_version;
    let name = joined.protocol_name.as_deref().map(group_text::wire);
    let members = joined.members.iter().map(|it| member(version, it)).collect();
    let mut response = JoinGroupResponse::default()
        .with_generation_id(joined.generation_id)
        .with_protocol_name(name)
        .with_leader(group_text::wire(joined.leader.as_str()))
        .with_member_id(group_text::wire(joined.member_id.as_str()))
        .with_members(members);
    if version >= 7 {
        response.protocol_type = joined.protocol_type.as_deref().map(group_text::wire);
    }
    if version >= 9 {
        response.skip_assignment = joined.skip_assignment;
    }
    response
}

fn member(version: i16, it: &JoinedMember) -> JoinGroupResponseMember {
    let mut member = JoinGroupResponseMember::default()
        .with_member_id(group_text::wire(it.member_id.as_str()))
        .with_metadata(it.metadata.clone());
    if version >= 5 {
        member.group_instance_id = it.group_instance_id.as_deref().map(group_text::wire);
    }
    member
}

fn refused(context: &Context, error: ErrorCode, member_id: &str) -> JoinGroupResponse {
    // Null only since version 7.
    let no_name = (context.api_version < 7).then(|| group_text::wire(""));
    JoinGroupResponse::default()
        .with_error_code(error.code())
        .with_generation_id(-1)
        .with_protocol_name(no_name)
        .with_member_id(group_text::wire(member_id))
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::protocol::Encodable;

    use super::*;

    #[test]
    fn each_version_can_tell_of_a_generation_and_of_a_refusal() {
        let member = JoinedMember {
            member_id: "m".into(),
            group_instance_id: Some("i".into()),
            metadata: Bytes::from_static(b"x"),
        };
        let joined = Joined {
            generation_id: 3,
            protocol_type: Some("consumer".into()),
            protocol_name: Some("range".into()),
            leader: "m".into(),
            member_id: "m".into(),
            skip_assignment: true,
            members: vec![member],
        };
        for version in VERSIONS {
            let context = Context::of_version(version);
            for response in [
                answer(&context, joined.clone()),
                refused(&context, ErrorCode::MemberIdRequired, "m"),
            ] {
                response.encode(&mut BytesMut::new(), version).unwrap();
            }
        }
    }

    #[test]
    fn version_zero_knows_one_timeout() {
        let request =
            JoinGroupRequest::default().with_session_timeout_ms(7).with_rebalance_timeout_ms(-1);
        let read = read(&Context::of_version(0), request).unwrap();
        assert_eq!((read.session_timeout_ms, read.rebalance_timeout_ms), (7, 7));
        assert_eq!(&*read.client_host, "/127.0.0.1");
    }

    #[test]
    fn a_new_member_is_named_after_its_client_within_bounds() {
        let id = new_member_id("reader");
        assert!(id.as_str().starts_with("reader-"));
        assert_ne!(id, new_member_id("reader"));
        assert!(new_member_id(&"ü".repeat(30_000)).as_str().len() < 1_100);
    }
}
