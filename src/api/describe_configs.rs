//! `DescribeConfigs`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=4;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DescribeConfigsRequest,
) -> DescribeConfigsResponse {
    let _ = (rooms, context, request);
    todo!()
}
