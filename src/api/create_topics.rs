//! `CreateTopics`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 2..=7;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: CreateTopicsRequest,
) -> CreateTopicsResponse {
    let _ = (rooms, context, request);
    todo!()
}
