//! `ApiVersions`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=4;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: ApiVersionsRequest,
) -> ApiVersionsResponse {
    let _ = (rooms, context, request);
    todo!()
}
