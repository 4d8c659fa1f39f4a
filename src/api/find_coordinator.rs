//! `FindCoordinator` (key 10), versions 0 to 6.
//!
//! Which broker coordinates a group. Looking for it creates `__consumer_offsets` if it is not there.
//!
//! | version | adds                                    | source   |
//! |---------|-----------------------------------------|----------|
//! | 1       | key types, error messages               | KIP-98   |
//! | 3       | flexible encoding                       | KIP-482  |
//! | 4       | many keys at once                       | KIP-699  |
//! | 5       | TRANSACTION_ABORTABLE                   | KIP-890  |
//! | 6       | share groups                            | KIP-932  |
//!
//! Not served: transactions (type 1) and share groups (type 2), answered by `INVALID_REQUEST`, which clients do
//! not retry.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        FindCoordinatorRequest, FindCoordinatorResponse, find_coordinator_response::Coordinator,
    },
    protocol::StrBytes,
};

use super::{Context, Rooms};
use crate::base::{BrokerId, ErrorCode, GroupId};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=6;

const GROUP: i8 = 0;

/// From here on a request holds many keys.
const BATCHED: i16 = 4;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: FindCoordinatorRequest,
) -> FindCoordinatorResponse {
    if context.api_version >= BATCHED {
        let mut coordinators = Vec::with_capacity(request.coordinator_keys.len());
        for key in request.coordinator_keys {
            coordinators.push(answer(rooms, context, request.key_type, key).await);
        }
        return FindCoordinatorResponse::default().with_coordinators(coordinators);
    }
    let found = answer(rooms, context, request.key_type, request.key).await;
    single(context, found)
}

fn single(context: &Context, it: Coordinator) -> FindCoordinatorResponse {
    let response = FindCoordinatorResponse::default()
        .with_error_code(it.error_code)
        .with_node_id(it.node_id)
        .with_host(it.host)
        .with_port(it.port);
    if context.api_version >= 1 { response.with_error_message(it.error_message) } else { response }
}

async fn answer(rooms: &Rooms, context: &Context, key_type: i8, key: StrBytes) -> Coordinator {
    let found = find(rooms, context, key_type, &GroupId::from(key.as_str())).await;
    told(found).with_key(key)
}

type Found = Result<(BrokerId, String, u16), (ErrorCode, &'static str)>;

fn told(found: Found) -> Coordinator {
    match found {
        Ok((id, host, port)) => Coordinator::default()
            .with_node_id(id.0.into())
            .with_host(StrBytes::from_string(host))
            .with_port(i32::from(port)),
        Err((error, message)) => Coordinator::default()
            .with_node_id((-1).into())
            .with_port(-1)
            .with_error_code(error.code())
            .with_error_message(Some(StrBytes::from_static_str(message))),
    }
}

async fn find(rooms: &Rooms, context: &Context, key_type: i8, group_id: &GroupId) -> Found {
    if key_type != GROUP {
        return Err((ErrorCode::InvalidRequest, "Only groups have coordinators here."));
    }
    let unavailable = (ErrorCode::CoordinatorNotAvailable, "The coordinator is not available.");
    let leader = rooms.groups.coordinator_of(group_id).await.map_err(|error| {
        tracing::warn!(error = &error as &dyn std::error::Error, "look for a group's coordinator");
        unavailable
    })?;
    let id = leader.ok_or(unavailable)?;
    let image = rooms.quorum.image();
    let broker = image.brokers.get(&id).ok_or(unavailable)?;
    let listener = broker.listeners.iter().find(|it| *it.name == *context.listener);
    listener.map(|it| (id, it.host.clone(), it.port)).ok_or(unavailable)
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::protocol::Encodable;

    use super::*;

    #[test]
    fn each_version_can_tell_what_was_found_and_what_was_not() {
        for version in VERSIONS {
            let context = Context::of_version(version);
            for found in [Ok((BrokerId(1), "h".into(), 9)), Err((ErrorCode::InvalidRequest, "no"))]
            {
                let response = match version {
                    BATCHED.. => {
                        FindCoordinatorResponse::default().with_coordinators(vec![told(found)])
                    }
                    _ => single(&context, told(found)),
                };
                response.encode(&mut BytesMut::new(), version).unwrap();
            }
        }
    }
}
