//! `Heartbeat` (key 12), versions 0 to 4.
//!
//! A member shows that it lives, and learns that the group rebalances.
//!
//! | version | adds              | source  |
//! |---------|-------------------|---------|
//! | 3       | static members    | KIP-345 |
//! | 4       | flexible encoding | KIP-482 |

use std::ops::RangeInclusive;

use kafka_protocol::messages::{HeartbeatRequest, HeartbeatResponse};

use super::{Context, Rooms, group_text};
use crate::{
    base::{ErrorCode, MemberId},
    group::classic,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=4;

pub async fn handle(
    rooms: &Rooms,
    _context: &Context,
    request: HeartbeatRequest,
) -> HeartbeatResponse {
    let error = match beat(rooms, request).await {
        Ok(()) => ErrorCode::None,
        Err(error) => error,
    };
    HeartbeatResponse::default().with_error_code(error.code())
}

async fn beat(rooms: &Rooms, request: HeartbeatRequest) -> Result<(), ErrorCode> {
    let request = classic::HeartbeatRequest {
        group_id: group_text::group_id(&request.group_id)?,
        member_id: MemberId(group_text::copy(&request.member_id)?),
        group_instance_id: group_text::copy_nullable(request.group_instance_id.as_ref())?,
        generation_id: request.generation_id,
    };
    Ok(rooms.groups.heartbeat(request).await?)
}
