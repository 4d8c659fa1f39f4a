//! `IncrementalAlterConfigs`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=1;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: IncrementalAlterConfigsRequest,
) -> IncrementalAlterConfigsResponse {
    let _ = (rooms, context, request);
    todo!()
}
