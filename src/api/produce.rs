//! `Produce`.

use std::{future, ops::RangeInclusive, sync::Arc};

use kafka_protocol::messages::{ProduceRequest, ProduceResponse};

use super::{Context, Rooms};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 3..=13;

/// Begins to append: the call fixes the order, the future completes later; `None` for `acks=0`.
pub fn handle(
    rooms: &Arc<Rooms>,
    context: &Context,
    request: ProduceRequest,
) -> impl Future<Output = Option<ProduceResponse>> + Send + 'static {
    let _ = (rooms, context, request);
    future::pending()
}
