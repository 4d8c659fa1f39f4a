//! `Heartbeat`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{HeartbeatRequest, HeartbeatResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=4;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: HeartbeatRequest,
) -> HeartbeatResponse {
    let _ = (rooms, context, request);
    todo!()
}
