//! `ListGroups`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{ListGroupsRequest, ListGroupsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=5;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: ListGroupsRequest,
) -> ListGroupsResponse {
    let _ = (rooms, context, request);
    todo!()
}
