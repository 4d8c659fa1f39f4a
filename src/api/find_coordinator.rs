//! `FindCoordinator`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{FindCoordinatorRequest, FindCoordinatorResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=6;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: FindCoordinatorRequest,
) -> FindCoordinatorResponse {
    let _ = (rooms, context, request);
    todo!()
}
