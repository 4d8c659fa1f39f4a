//! `InitProducerId`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=5;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: InitProducerIdRequest,
) -> InitProducerIdResponse {
    let _ = (rooms, context, request);
    todo!()
}
