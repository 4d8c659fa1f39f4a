//! `Fetch` (key 1), versions 4 to 18.
//!
//! Reads committed batches, waiting for more where the client asks for it. Served by the partition's leader.
//!
//! | version | adds                                                     | source           |
//! |---------|----------------------------------------------------------|------------------|
//! | 4       | isolation level                                          | KIP-98           |
//! | 5       | the log's start offset                                   | KIP-107          |
//! | 7       | fetch sessions                                           | KIP-227          |
//! | 9       | the client's leader epoch, to fence                      | KIP-320          |
//! | 11      | the client's rack (always answered by the leader)        | KIP-392          |
//! | 12      | flexible encoding, diverging epochs                      | KIP-482, KIP-595 |
//! | 13      | topics by id                                             | KIP-516          |
//! | 15      | the follower's state in a field of its own               | KIP-903          |
//! | 16      | where the leader is now, with its address                | KIP-951          |
//! | 17, 18  | fields of followers only                                 | KIP-853, KIP-1166|
//!
//! Not served: fetches of followers as such (they are answered like consumers), reading from other replicas than the
//! leader.

mod answer;
mod request;
mod session;
mod session_cache;

use std::ops::RangeInclusive;

use kafka_protocol::messages::{FetchRequest, FetchResponse};

use self::{
    request::{Asked, Target},
    session::SessionRequest,
};
pub use session_cache::FetchSessions;
use session_cache::SessionFetch;

use super::{Context, Rooms};
use crate::{
    base::ErrorCode,
    metadata::MetadataImage,
    replica::{FetchPartition, FetchedData, FetchedPartition, Records},
    telemetry::now,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 4..=18;

/// The answer, with stand-ins for records, and the records in its order.
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: FetchRequest,
) -> (FetchResponse, Vec<Records>) {
    let sessions = &rooms.fetch_sessions;
    let throttle = context.throttle.as_ref();
    let most = throttle.map_or(usize::MAX, |it| it.fetch_bytes_max());
    let limits = request::limits(&request).at_most(most.min(rooms.config.node.fetch_max_bytes));
    let asked = SessionRequest::of(&request, context.api_version);
    // It may wait for long, and needs none of the request's bytes.
    drop(request);
    let fetch = match sessions.begin(asked, now()) {
        Ok(fetch) => fetch,
        Err(error) => return failed(context, error),
    };
    let image = rooms.quorum.image();
    let resolved: Vec<_> = fetch.partitions.iter().map(|it| resolve(&image, it)).collect();
    let readable = resolved.iter().flatten().cloned().collect();
    let hurry = context.details.said_all.clone();
    let read = rooms.replicas.fetch(limits.with(readable, hurry)).await;
    let bytes = read.iter().flat_map(|it| &it.result).map(FetchedData::bytes).sum();
    let throttle_time_ms = match throttle.map_or(Ok(0), |it| it.fetched(bytes)) {
        Ok(ms) => ms,
        Err(ms) => return throttled(sessions, &fetch, ms),
    };
    let (mut read, mut records) = (read.into_iter(), Vec::new());
    let answers = fetch.partitions.iter().zip(resolved).map(|((target, _), resolved)| {
        let result = resolved.and_then(|_| read.next().ok_or(ErrorCode::UnknownServerError));
        let data = answer::partition(target, result, limits.isolation, &mut records);
        (target.clone(), data)
    });
    let answers = answers.collect();
    match sessions.finish(&fetch, answers, now()) {
        // What a session leaves out has no records.
        Ok((session_id, answers)) => {
            let response = answer::response(session_id, answers, &image, context);
            (response.with_throttle_time_ms(throttle_time_ms), records)
        }
        Err(error) => failed(context, error),
    }
}

fn failed(context: &Context, error: ErrorCode) -> (FetchResponse, Vec<Records>) {
    let throttle_time_ms = context.throttle.as_ref().map_or(0, |it| it.answered(0));
    let response = FetchResponse::default().with_error_code(error.code());
    (response.with_throttle_time_ms(throttle_time_ms), Vec::new())
}

/// A client above its quota is told nothing but for how long it is: what was read is read again when it may have it.
fn throttled(
    sessions: &FetchSessions,
    fetch: &SessionFetch,
    throttle_time_ms: i32,
) -> (FetchResponse, Vec<Records>) {
    let (session_id, error) = sessions.throttled(fetch);
    let response = FetchResponse::default()
        .with_throttle_time_ms(throttle_time_ms)
        .with_session_id(session_id)
        .with_error_code(error.code());
    (response, Vec::new())
}

/// What to read, if the topic is known.
fn resolve(
    image: &MetadataImage,
    (target, asked): &(Target, Asked),
) -> Result<FetchPartition, ErrorCode> {
    Ok(FetchPartition {
        topic_partition: target.topic_partition(image)?,
        topic_id: target.topic_id(),
        fetch_offset: asked.fetch_offset,
        max_bytes: asked.max_bytes,
        current_leader_epoch: asked.current_leader_epoch,
        last_fetched_epoch: asked.last_fetched_epoch,
    })
}

#[cfg(test)]
mod tests;
