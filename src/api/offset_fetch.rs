//! `OffsetFetch`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=9;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: OffsetFetchRequest,
) -> OffsetFetchResponse {
    let _ = (rooms, context, request);
    todo!()
}
