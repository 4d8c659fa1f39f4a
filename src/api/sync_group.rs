//! `SyncGroup`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{SyncGroupRequest, SyncGroupResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=5;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: SyncGroupRequest,
) -> SyncGroupResponse {
    let _ = (rooms, context, request);
    todo!()
}
