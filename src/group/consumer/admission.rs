//! Whether a heartbeat is taken, checked in Kafka's order.

use super::{
    ConsumerGroup, ConsumerHeartbeatRequest, TopicPartitions,
    assignor::BuiltIn,
    member::{JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH, Member},
};
use crate::{
    base::{MemberId, PluginName},
    group::{GroupError, MemberState},
};

/// From this version on members make their own ids (KIP-1082).
const CLIENT_MADE_MEMBER_ID: i16 = 1;

impl ConsumerHeartbeatRequest {
    pub(super) fn joins(&self) -> bool {
        self.member_epoch == JOIN_EPOCH
    }

    pub(super) fn leaves(&self) -> bool {
        matches!(self.member_epoch, LEAVE_EPOCH | LEAVE_STATIC_EPOCH)
    }

    /// Whether it tells everything, as after an error: the answer does too then.
    pub(super) fn is_full(&self) -> bool {
        self.joins()
            || (self.rebalance_timeout_ms.is_some()
                && (self.subscribed_topic_names.is_some() || self.subscribed_topic_regex.is_some())
                && self.topic_partitions.is_some())
    }

    /// What can be told wrong without looking at the group. `built_in` are those of `group.consumer.assignors`.
    ///
    /// # Errors
    ///
    /// [`GroupError::InvalidRequest`], [`GroupError::UnsupportedAssignor`].
    pub(super) fn validate(&self, built_in: &[PluginName]) -> Result<(), GroupError> {
        let names_itself = self.api_version >= CLIENT_MADE_MEMBER_ID
            || self.member_epoch > JOIN_EPOCH
            || self.member_epoch == LEAVE_EPOCH;
        if names_itself {
            require_text(Some(self.member_id.as_str()), "MemberId can't be empty.")?;
        }
        require_text(Some(self.group_id.as_str()), "GroupId can't be empty.")?;
        require_text(self.group_instance_id.as_deref(), "InstanceId can't be empty.")?;
        require_text(self.rack_id.as_deref(), "RackId can't be empty.")?;
        match self.member_epoch {
            JOIN_EPOCH => self.validate_join()?,
            LEAVE_STATIC_EPOCH if self.group_instance_id.is_none() => {
                return Err(invalid("InstanceId can't be null."));
            }
            ..LEAVE_STATIC_EPOCH => return Err(invalid("MemberEpoch is invalid.")),
            _ => {}
        }
        self.validate_assignor(built_in)
    }

    fn validate_join(&self) -> Result<(), GroupError> {
        if self.rebalance_timeout_ms.is_none() {
            return Err(invalid("RebalanceTimeoutMs must be provided in first request."));
        }
        if self.topic_partitions.as_ref().is_none_or(|it| !it.is_empty()) {
            return Err(invalid("TopicPartitions must be empty when (re-)joining."));
        }
        if self.subscribed_topic_names.is_none() && self.subscribed_topic_regex.is_none() {
            return Err(invalid(
                "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
            ));
        }
        Ok(())
    }

    fn validate_assignor(&self, built_in: &[PluginName]) -> Result<(), GroupError> {
        let Some(name) = &self.server_assignor else { return Ok(()) };
        let supported = match BuiltIn::named(name.as_str()) {
            Some(_) => built_in.contains(name),
            None => self.assignors.loaded.contains(name),
        };
        if supported { Ok(()) } else { Err(GroupError::UnsupportedAssignor) }
    }
}

impl ConsumerGroup {
    /// The member that a heartbeat comes from, or joins as; and whom it replaces.
    ///
    /// # Errors
    ///
    /// Those that tell a member that it is not, or not any more, what it believes.
    pub(super) fn admit(
        &self,
        request: &ConsumerHeartbeatRequest,
        max_size: usize,
    ) -> Result<Admitted, GroupError> {
        let id = &request.member_id;
        if self.members.len() >= max_size && !self.members.contains_key(id) {
            return Err(GroupError::GroupMaxSizeReached);
        }
        let admitted = match (&request.group_instance_id, request.joins()) {
            (None, _) => self.admit_dynamic(request)?,
            (Some(instance), true) => match self.static_member(instance) {
                None => Admitted::new(self.members.get(id)),
                Some((holder, member)) => Admitted::in_place_of(holder, member, request)?,
            },
            (Some(instance), false) => {
                let (holder, member) =
                    self.static_member(instance).ok_or(GroupError::UnknownMemberId)?;
                if holder != id {
                    return Err(GroupError::FencedInstanceId);
                }
                Admitted::with_epoch(member, request)?
            }
        };
        admitted.require_known_state(request.topic_partitions.as_ref())?;
        Ok(admitted)
    }

    fn admit_dynamic(&self, request: &ConsumerHeartbeatRequest) -> Result<Admitted, GroupError> {
        match self.members.get(&request.member_id) {
            Some(member) => Admitted::with_epoch(member, request),
            None if request.joins() => Ok(Admitted::new(None)),
            None => Err(GroupError::UnknownMemberId),
        }
    }
}

/// A member as it was before the heartbeat.
pub(super) struct Admitted {
    pub(super) member: Member,
    pub(super) is_new: bool,
    /// The static member whose place it takes.
    pub(super) replaces: Option<MemberId>,
}

impl Admitted {
    fn new(known: Option<&Member>) -> Self {
        let member = known.cloned().unwrap_or_else(Member::new);
        Self { member, is_new: known.is_none(), replaces: None }
    }

    /// A static member comes back, under a new id as a rule, once the old one has left for a while. One that has missed the
    /// answer to its join may ask again.
    fn in_place_of(
        holder: &MemberId,
        member: &Member,
        request: &ConsumerHeartbeatRequest,
    ) -> Result<Self, GroupError> {
        if member.is_away() {
            let replaces = Some(holder.clone());
            return Ok(Self { member: member.reborn(), is_new: false, replaces });
        }
        let again = Some(member).filter(|_| *holder == request.member_id);
        again
            .and_then(|it| Self::with_epoch(it, request).ok())
            .ok_or(GroupError::UnreleasedInstanceId)
    }

    /// The epoch must be the member's. It may be the one before, if it owns nothing that it must not: it has missed the
    /// answer with the new one.
    fn with_epoch(member: &Member, request: &ConsumerHeartbeatRequest) -> Result<Self, GroupError> {
        let (told, current) = (request.member_epoch, &member.current);
        let has_missed_the_answer = told < current.member_epoch
            && told == current.previous_member_epoch
            && request.topic_partitions.as_ref().is_some_and(|it| it.is_subset(&current.assigned));
        if told != current.member_epoch && !has_missed_the_answer {
            return Err(GroupError::FencedMemberEpoch);
        }
        Ok(Self::new(Some(member)))
    }

    /// In a state that only a newer version knows, the member has to begin anew.
    fn require_known_state(&self, owned: Option<&TopicPartitions>) -> Result<(), GroupError> {
        let is_unknown = self.member.current.state == MemberState::Unknown;
        if is_unknown && owned.is_none_or(|it| !it.is_empty()) {
            return Err(GroupError::FencedMemberEpoch);
        }
        Ok(())
    }
}

fn require_text(text: Option<&str>, error: &str) -> Result<(), GroupError> {
    if text.is_some_and(|it| it.trim().is_empty()) { Err(invalid(error)) } else { Ok(()) }
}

fn invalid(error: &str) -> GroupError {
    GroupError::InvalidRequest(error.to_owned())
}
