//! `LeaveGroup`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{LeaveGroupRequest, LeaveGroupResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=5;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: LeaveGroupRequest,
) -> LeaveGroupResponse {
    let _ = (rooms, context, request);
    todo!()
}
