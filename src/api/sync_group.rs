//! `SyncGroup` (key 14), versions 0 to 5.
//!
//! The leader brings the assignment of a generation, everyone gets their part: what the leader said, or what the group's
//! assignor plugin did. The answer waits until it is stored.
//!
//! | version | adds                                     | source  |
//! |---------|------------------------------------------|---------|
//! | 3       | static members                           | KIP-345 |
//! | 4       | flexible encoding                        | KIP-482 |
//! | 5       | type and name of the protocol, checked   | KIP-559 |

use std::ops::RangeInclusive;

use bytes::Bytes;
use kafka_protocol::messages::{SyncGroupRequest, SyncGroupResponse};

use super::{Context, Rooms, group_text};
use crate::{
    base::{ErrorCode, MemberId},
    group::classic::{SyncRequest, Synced},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=5;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: SyncGroupRequest,
) -> SyncGroupResponse {
    let synced = match read(context, request) {
        Ok(request) => rooms.groups.sync(request).await.map_err(ErrorCode::from),
        Err(error) => Err(error),
    };
    match synced {
        Ok(synced) => answer(context, synced),
        Err(error) => SyncGroupResponse::default().with_error_code(error.code()),
    }
}

fn read(context: &Context, request: SyncGroupRequest) -> Result<SyncRequest, ErrorCode> {
    let named = request.protocol_type.is_some() && request.protocol_name.is_some();
    if context.api_version >= 5 && !named {
        return Err(ErrorCode::InconsistentGroupProtocol);
    }
    let assignments = request.assignments.iter().map(|it| {
        let id = MemberId(group_text::copy(&it.member_id)?);
        Ok((id, Bytes::copy_from_slice(&it.assignment)))
    });
    Ok(SyncRequest {
        group_id: group_text::group_id(&request.group_id)?,
        member_id: MemberId(group_text::copy(&request.member_id)?),
        group_instance_id: group_text::copy_nullable(request.group_instance_id.as_ref())?,
        generation_id: request.generation_id,
        protocol_type: group_text::copy_nullable(request.protocol_type.as_ref())?,
        protocol_name: group_text::copy_nullable(request.protocol_name.as_ref())?,
        assignments: assignments.collect::<Result<_, ErrorCode>>()?,
        assignor: None,
    })
}

fn answer(context: &Context, synced: Synced) -> SyncGroupResponse {
    let mut response = SyncGroupResponse::default().with_assignment(synced.assignment);
    if context.api_version >= 5 {
        response.protocol_type = synced.protocol_type.as_deref().map(group_text::wire);
        response.protocol_name = synced.protocol_name.as_deref().map(group_text::wire);
    }
    response
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::protocol::{Encodable, StrBytes};

    use super::*;

    #[test]
    fn each_version_can_tell_an_assignment() {
        let synced = Synced {
            protocol_type: Some("consumer".into()),
            protocol_name: Some("range".into()),
            assignment: Bytes::from_static(b"x"),
        };
        for version in VERSIONS {
            let response = answer(&Context::of_version(version), synced.clone());
            response.encode(&mut BytesMut::new(), version).unwrap();
        }
    }

    #[test]
    fn version_five_must_name_the_protocol() {
        let context = Context::of_version(5);
        let request = SyncGroupRequest::default().with_group_id(group_text::wire("g").into());
        let refused = read(&context, request.clone()).err();
        assert_eq!(refused, Some(ErrorCode::InconsistentGroupProtocol));
        let named = request
            .with_protocol_type(Some(StrBytes::from_static_str("consumer")))
            .with_protocol_name(Some(StrBytes::from_static_str("range")));
        assert!(read(&context, named).is_ok());
    }
}
