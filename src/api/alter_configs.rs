//! `AlterConfigs`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{AlterConfigsRequest, AlterConfigsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: AlterConfigsRequest,
) -> AlterConfigsResponse {
    let _ = (rooms, context, request);
    todo!()
}
