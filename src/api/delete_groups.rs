//! `DeleteGroups`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DeleteGroupsRequest,
) -> DeleteGroupsResponse {
    let _ = (rooms, context, request);
    todo!()
}
