//! `ListGroups` (key 16), versions 0 to 5.
//!
//! The groups that this node coordinates.
//!
//! | version | adds                                | source  |
//! |---------|-------------------------------------|---------|
//! | 3       | flexible encoding                   | KIP-482 |
//! | 4       | states, and a filter by them        | KIP-518 |
//! | 5       | types, and a filter by them         | KIP-848 |

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{ListGroupsRequest, ListGroupsResponse, list_groups_response},
    protocol::StrBytes,
};

use super::{Context, Rooms, group_text};
use crate::{base::ErrorCode, group::ListedGroup};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=5;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: ListGroupsRequest,
) -> ListGroupsResponse {
    let groups = match rooms.groups.list().await {
        Ok(groups) => groups,
        Err(error) => {
            let code = ErrorCode::from(error).code();
            return ListGroupsResponse::default().with_error_code(code);
        }
    };
    let listed = groups
        .iter()
        .filter(|it| admits(&request.states_filter, it.state.name()))
        .filter(|it| admits(&request.types_filter, it.state.group_type()))
        .map(|it| answer(context.api_version, it));
    ListGroupsResponse::default().with_groups(listed.collect())
}

/// An empty filter admits everything; case does not matter.
fn admits(filter: &[StrBytes], name: &str) -> bool {
    filter.is_empty() || filter.iter().any(|it| it.trim().eq_ignore_ascii_case(name))
}

fn answer(version: i16, it: &ListedGroup) -> list_groups_response::ListedGroup {
    let mut group = list_groups_response::ListedGroup::default()
        .with_group_id(group_text::wire(it.group_id.as_str()).into())
        .with_protocol_type(group_text::wire(&it.protocol_type));
    if version >= 4 {
        group.group_state = group_text::wire(it.state.name());
    }
    if version >= 5 {
        group.group_type = StrBytes::from_static_str(it.state.group_type());
    }
    group
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::protocol::Encodable;

    use super::*;
    use crate::group::{GroupState, consumer::ConsumerGroupState};

    #[test]
    fn each_version_can_list_a_group() {
        let group = ListedGroup {
            group_id: "g".into(),
            protocol_type: "consumer".into(),
            state: GroupState::Consumer(ConsumerGroupState::Assigning),
        };
        for version in VERSIONS {
            let groups = vec![answer(version, &group)];
            let response = ListGroupsResponse::default().with_groups(groups);
            response.encode(&mut BytesMut::new(), version).unwrap();
        }
    }

    #[test]
    fn a_filter_ignores_case_and_an_empty_one_admits_all() {
        assert!(admits(&[], "Stable"));
        assert!(admits(&[group_text::wire("stable")], "Stable"));
        assert!(!admits(&[group_text::wire("Empty")], "Stable"));
    }
}
