//! What `ListGroups` and `DescribeGroups` tell of the groups of a shard.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    GroupError, Shard,
    classic::{ClassicGroup, Member, State},
    consumer::ConsumerGroupState,
};
use crate::base::{GroupId, MemberId};

/// A line of `ListGroups`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGroup {
    pub group_id: GroupId,
    /// Empty for a group that only has offsets.
    pub protocol_type: Arc<str>,
    pub state: GroupState,
}

/// Of a group of any type; its type shows in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    Classic(State),
    Consumer(ConsumerGroupState),
}

impl GroupState {
    /// As `ListGroups` writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic(state) => state.name(),
            Self::Consumer(state) => state.name(),
        }
    }

    /// As `ListGroups` writes the type of the group.
    pub fn group_type(self) -> &'static str {
        match self {
            Self::Classic(_) => "classic",
            Self::Consumer(_) => "consumer",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedGroup {
    pub state: State,
    pub protocol_type: Arc<str>,
    /// Empty unless the group is stable.
    pub protocol: Arc<str>,
    pub members: Vec<DescribedMember>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedMember {
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    /// Both empty unless the group is stable.
    pub metadata: Bytes,
    pub assignment: Bytes,
}

impl Shard {
    pub fn list(&self) -> Vec<ListedGroup> {
        let live = self.live.iter().map(|(id, group)| ListedGroup {
            group_id: id.clone(),
            protocol_type: group.protocol_type().cloned().unwrap_or_default(),
            state: GroupState::Classic(group.state()),
        });
        let consumers = self.consumers.iter().map(|(id, group)| ListedGroup {
            group_id: id.clone(),
            protocol_type: "consumer".into(),
            state: GroupState::Consumer(group.state()),
        });
        let is_simple =
            |id: &&GroupId| !self.live.contains_key(*id) && !self.consumers.contains_key(*id);
        let simple = self.offsets.group_ids().filter(is_simple);
        let simple = simple.map(|id| ListedGroup {
            group_id: id.clone(),
            protocol_type: "".into(),
            state: GroupState::Classic(State::Empty),
        });
        live.chain(consumers).chain(simple).collect()
    }

    /// # Errors
    ///
    /// [`GroupError::GroupIdNotFound`], or [`GroupError::OtherGroupType`] for a consumer group.
    pub fn describe(&self, group_id: &GroupId) -> Result<DescribedGroup, GroupError> {
        if self.consumers.contains_key(group_id) {
            return Err(GroupError::OtherGroupType);
        }
        match self.live.get(group_id) {
            Some(group) => Ok(describe(group)),
            None if self.offsets.has(group_id) => Ok(DescribedGroup {
                state: State::Empty,
                protocol_type: "".into(),
                protocol: "".into(),
                members: Vec::new(),
            }),
            None => Err(GroupError::GroupIdNotFound),
        }
    }
}

/// What members tell and got is shown of a stable group only: before, it is not settled.
fn describe(group: &ClassicGroup) -> DescribedGroup {
    let stable = group.state() == State::Stable;
    let protocol = group.protocol().filter(|_| stable).cloned().unwrap_or_default();
    let member = |it: &Member| DescribedMember {
        member_id: it.id.clone(),
        group_instance_id: it.group_instance_id.clone(),
        client_id: it.client_id.clone(),
        client_host: it.client_host.clone(),
        metadata: it.metadata(&protocol),
        assignment: if stable { it.assignment.clone() } else { Bytes::new() },
    };
    DescribedGroup {
        state: group.state(),
        protocol_type: group.protocol_type().cloned().unwrap_or_default(),
        members: group.members().map(member).collect(),
        protocol,
    }
}
