//! `ListPartitionReassignments` (key 46), version 0 (KIP-455).
//!
//! Replicas that are being moved. On one node there is nowhere to move them to, so there are none.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=0;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    _: &Rooms,
    _: &Context,
    _: ListPartitionReassignmentsRequest,
) -> ListPartitionReassignmentsResponse {
    // Topics that are not reassigned, or not there, are left out, as in Kafka.
    ListPartitionReassignmentsResponse::default().with_error_message(None)
}
