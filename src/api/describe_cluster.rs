//! `DescribeCluster`.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{DescribeClusterRequest, DescribeClusterResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DescribeClusterRequest,
) -> DescribeClusterResponse {
    let _ = (rooms, context, request);
    todo!()
}
