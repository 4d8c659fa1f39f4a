//! `OffsetCommit`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 2..=9;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: OffsetCommitRequest,
) -> OffsetCommitResponse {
    let _ = (rooms, context, request);
    todo!()
}
