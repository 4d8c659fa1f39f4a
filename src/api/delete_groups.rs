//! `DeleteGroups` (key 42), versions 0 to 2 (KIP-229; 2 is flexible, KIP-482).
//!
//! Removes groups without members, with their offsets.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{
    DeleteGroupsRequest, DeleteGroupsResponse, GroupId as WireId,
    delete_groups_response::DeletableGroupResult,
};

use super::{Context, Rooms, distinct::distinct, group_text};
use crate::base::ErrorCode;

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

pub async fn handle(
    rooms: &Rooms,
    _context: &Context,
    request: DeleteGroupsRequest,
) -> DeleteGroupsResponse {
    let names = distinct(request.groups_names, Clone::clone);
    let mut results = Vec::with_capacity(names.len());
    for id in names {
        let error = delete(rooms, &id).await.err().unwrap_or(ErrorCode::None);
        let result = DeletableGroupResult::default().with_error_code(error.code());
        results.push(result.with_group_id(id));
    }
    DeleteGroupsResponse::default().with_results(results)
}

async fn delete(rooms: &Rooms, id: &WireId) -> Result<(), ErrorCode> {
    Ok(rooms.groups.delete(group_text::group_id(id)?).await?)
}
