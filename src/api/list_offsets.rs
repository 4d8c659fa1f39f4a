//! `ListOffsets`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{ListOffsetsRequest, ListOffsetsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=10;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: ListOffsetsRequest,
) -> ListOffsetsResponse {
    let _ = (rooms, context, request);
    todo!()
}
