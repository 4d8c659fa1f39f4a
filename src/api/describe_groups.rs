//! `DescribeGroups`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=6;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DescribeGroupsRequest,
) -> DescribeGroupsResponse {
    let _ = (rooms, context, request);
    todo!()
}
