//! `InitProducerId` (key 22), versions 0 to 5.
//!
//! | version | adds                                            | source  |
//! |---------|-------------------------------------------------|---------|
//! | 2       | flexible encoding                               | KIP-482 |
//! | 3       | the id and epoch that the producer had          | KIP-360 |
//! | 4       | `PRODUCER_FENCED`                               | KIP-588 |
//!
//! A producer without a transactional id gets a new id with epoch 0, whatever it had before: as in Kafka, where an idempotent
//! producer raises its epoch by itself. Not served: transactions. A transactional id is refused with
//! `TRANSACTIONAL_ID_AUTHORIZATION_FAILED`, the one code at which every client gives up at once and names the transactional id;
//! others they retry until a timeout. Version 6 (two-phase commit) is unstable in Kafka and not announced.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse};

use super::{Context, Rooms};
use crate::{
    base::{ErrorCode, ProducerId},
    quorum::ProducerIds,
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=5;

pub async fn handle(
    rooms: &Rooms,
    _context: &Context,
    request: InitProducerIdRequest,
) -> InitProducerIdResponse {
    answer(&rooms.producer_ids, &request).await
}

async fn answer(ids: &ProducerIds, request: &InitProducerIdRequest) -> InitProducerIdResponse {
    match allocate(ids, request).await {
        Ok(id) => {
            InitProducerIdResponse::default().with_producer_id(id.0.into()).with_producer_epoch(0)
        }
        Err(code) => InitProducerIdResponse::default()
            .with_error_code(code.code())
            .with_producer_id((-1).into())
            .with_producer_epoch(-1),
    }
}

async fn allocate(
    ids: &ProducerIds,
    request: &InitProducerIdRequest,
) -> Result<ProducerId, ErrorCode> {
    if (request.producer_id.0 == -1) != (request.producer_epoch == -1) {
        return Err(ErrorCode::InvalidRequest);
    }
    match &request.transactional_id {
        None => Ok(ids.next().await?),
        Some(id) if id.0.is_empty() => Err(ErrorCode::InvalidRequest),
        Some(_) => Err(ErrorCode::TransactionalIdAuthorizationFailed),
    }
}

#[cfg(test)]
mod tests;
