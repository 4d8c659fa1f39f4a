//! `DeleteTopics`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=6;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DeleteTopicsRequest,
) -> DeleteTopicsResponse {
    let _ = (rooms, context, request);
    todo!()
}
