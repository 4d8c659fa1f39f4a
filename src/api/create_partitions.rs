//! `CreatePartitions`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=3;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: CreatePartitionsRequest,
) -> CreatePartitionsResponse {
    let _ = (rooms, context, request);
    todo!()
}
