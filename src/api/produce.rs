//! `Produce`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{ProduceRequest, ProduceResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 3..=13;

pub async fn handle(rooms: &Rooms, context: &Context, request: ProduceRequest) -> ProduceResponse {
    let _ = (rooms, context, request);
    todo!()
}
