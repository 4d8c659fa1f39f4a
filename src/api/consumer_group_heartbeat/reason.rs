//! What a member whose heartbeat is refused is told, in Kafka's words; but of other members neither ids nor epochs.

use std::collections::BTreeSet;

use kafka_protocol::messages::ConsumerGroupHeartbeatRequest;

use crate::{base::PluginName, group::GroupError};

/// `None` where the code says it all: the coordinator is not there, and the member has no part in that.
pub(super) fn reason(
    error: &GroupError,
    request: &ConsumerGroupHeartbeatRequest,
    max_size: usize,
    assignors: impl FnOnce() -> BTreeSet<PluginName>,
) -> Option<String> {
    let (group, member) = (request.group_id.as_str(), request.member_id.as_str());
    let instance = request.instance_id.as_deref().unwrap_or_default();
    let reason = match error {
        error if error.is_of_the_coordinator() => return None,
        GroupError::UnknownMemberId => format!("Member {member} is not a member of group {group}."),
        GroupError::GroupIdNotFound => format!("Group {group} not found."),
        GroupError::FencedMemberEpoch => format!(
            "The consumer group member has another member epoch ({}) than the one known by the group coordinator. \
             The member must abandon all its partitions and rejoin.",
            request.member_epoch
        ),
        GroupError::UnreleasedInstanceId => format!(
            "Static member {member} with instance id {instance} cannot join the group because the instance id is owned by \
             another member."
        ),
        GroupError::FencedInstanceId => {
            format!(
                "Static member {member} with instance id {instance} was fenced by another member."
            )
        }
        GroupError::GroupMaxSizeReached => {
            format!("The consumer group has reached its maximum capacity of {max_size} members.")
        }
        GroupError::UnsupportedAssignor => unsupported(request, &assignors()),
        error => error.to_string(),
    };
    Some(reason)
}

fn unsupported(
    request: &ConsumerGroupHeartbeatRequest,
    supported: &BTreeSet<PluginName>,
) -> String {
    let named = request.server_assignor.as_deref().unwrap_or_default();
    let supported: Vec<&str> = supported.iter().map(PluginName::as_str).collect();
    let supported = supported.join(", ");
    format!("ServerAssignor {named} is not supported. Supported assignors: {supported}.")
}

#[cfg(test)]
mod tests {
    use kafka_protocol::protocol::StrBytes;

    use super::*;

    #[test]
    fn a_member_is_told_in_kafkas_words() {
        let text = StrBytes::from_static_str;
        let request = ConsumerGroupHeartbeatRequest::default()
            .with_group_id(text("g").into())
            .with_member_id(text("m"))
            .with_member_epoch(4)
            .with_instance_id(Some(text("i")))
            .with_server_assignor(Some(text("thine")));
        let told = |error: &GroupError| {
            let assignors = || ["uniform", "mine", "range"].map(PluginName::from).into();
            reason(error, &request, 7, assignors)
        };
        let cases = [
            (GroupError::UnknownMemberId, "Member m is not a member of group g."),
            (GroupError::GroupIdNotFound, "Group g not found."),
            (
                GroupError::UnsupportedAssignor,
                "ServerAssignor thine is not supported. Supported assignors: mine, range, uniform.",
            ),
            (
                GroupError::FencedMemberEpoch,
                "The consumer group member has another member epoch (4) than the one known by the group coordinator. The member must abandon all its partitions and rejoin.",
            ),
            (
                GroupError::GroupMaxSizeReached,
                "The consumer group has reached its maximum capacity of 7 members.",
            ),
            (
                GroupError::FencedInstanceId,
                "Static member m with instance id i was fenced by another member.",
            ),
            (GroupError::InvalidRequest("RackId can't be empty.".into()), "RackId can't be empty."),
        ];
        for (error, want) in cases {
            assert_eq!(told(&error).as_deref(), Some(want));
        }
        assert_eq!(told(&GroupError::CoordinatorLoadInProgress), None);
    }
}
