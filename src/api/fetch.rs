//! `Fetch`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{FetchRequest, FetchResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 4..=18;

pub async fn handle(rooms: &Rooms, context: &Context, request: FetchRequest) -> FetchResponse {
    let _ = (rooms, context, request);
    todo!()
}
