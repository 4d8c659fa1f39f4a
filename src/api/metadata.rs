//! `Metadata`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{MetadataRequest, MetadataResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=13;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: MetadataRequest,
) -> MetadataResponse {
    let _ = (rooms, context, request);
    todo!()
}
