//! One member of a consumer group, as its two records tell it.

use std::{collections::BTreeSet, sync::Arc};

use super::{ConsumerHeartbeatRequest, TopicPartitions};
use crate::{
    base::TopicName,
    group::{ConsumerMemberMetadata, CurrentAssignment, MemberState, ResolvedRegex},
};

/// The epoch with which a member joins.
pub(super) const JOIN_EPOCH: i32 = 0;
/// … leaves …
pub(super) const LEAVE_EPOCH: i32 = -1;
/// … and, if it is static, leaves to come back: it has this epoch then until it does, or its session ends.
pub(super) const LEAVE_STATIC_EPOCH: i32 = -2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) metadata: ConsumerMemberMetadata,
    pub(super) current: CurrentAssignment,
}

impl Member {
    /// One that has told nothing and owns nothing.
    pub(super) fn new() -> Self {
        Self {
            metadata: ConsumerMemberMetadata {
                group_instance_id: None,
                rack_id: None,
                client_id: "".into(),
                client_host: "".into(),
                subscribed_topic_names: BTreeSet::new(),
                subscribed_topic_regex: None,
                rebalance_timeout_ms: -1,
                server_assignor: None,
                classic: None,
            },
            current: CurrentAssignment {
                member_epoch: JOIN_EPOCH,
                previous_member_epoch: -1,
                state: MemberState::Stable,
                assigned: TopicPartitions::default(),
                pending_revocation: TopicPartitions::default(),
            },
        }
    }

    pub(super) fn is_reconciled_to(&self, assignment_epoch: i32) -> bool {
        self.current.state == MemberState::Stable && self.current.member_epoch == assignment_epoch
    }

    pub(super) fn is_away(&self) -> bool {
        self.current.member_epoch == LEAVE_STATIC_EPOCH
    }

    /// The same member as it begins anew under another id, with what it had.
    pub(super) fn reborn(&self) -> Self {
        let current = CurrentAssignment {
            member_epoch: JOIN_EPOCH,
            previous_member_epoch: JOIN_EPOCH,
            ..self.current.clone()
        };
        Self { metadata: self.metadata.clone(), current }
    }

    /// The topics it reads, by name and by what its regular expression has matched.
    pub(super) fn topics<'a>(
        &'a self,
        regexes: &'a std::collections::BTreeMap<Arc<str>, ResolvedRegex>,
    ) -> impl Iterator<Item = &'a TopicName> {
        let regex = self.metadata.subscribed_topic_regex.as_ref();
        let matched = regex.and_then(|it| regexes.get(it)).into_iter().flat_map(|it| &it.topics);
        self.metadata.subscribed_topic_names.iter().chain(matched)
    }
}

/// A member's metadata after a heartbeat, which tells only what has changed.
pub(super) fn updated(
    before: &ConsumerMemberMetadata,
    request: &ConsumerHeartbeatRequest,
) -> ConsumerMemberMetadata {
    let told = request.clone();
    let before = before.clone();
    let regex = told.subscribed_topic_regex.or(before.subscribed_topic_regex);
    ConsumerMemberMetadata {
        group_instance_id: told.group_instance_id.or(before.group_instance_id),
        rack_id: told.rack_id.or(before.rack_id),
        client_id: told.client_id,
        client_host: told.client_host,
        subscribed_topic_names: told
            .subscribed_topic_names
            .unwrap_or(before.subscribed_topic_names),
        // An empty text ends the subscription.
        subscribed_topic_regex: regex.filter(|it| !it.is_empty()),
        rebalance_timeout_ms: told.rebalance_timeout_ms.unwrap_or(before.rebalance_timeout_ms),
        server_assignor: told.server_assignor.or(before.server_assignor),
        classic: None,
    }
}
