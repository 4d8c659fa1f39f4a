//! `JoinGroup`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{JoinGroupRequest, JoinGroupResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=9;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: JoinGroupRequest,
) -> JoinGroupResponse {
    let _ = (rooms, context, request);
    todo!()
}
