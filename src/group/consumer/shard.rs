//! What a shard does for its consumer groups.

use super::{ConsumerAnswer, ConsumerHeartbeat, ConsumerHeartbeatRequest, DescribedConsumerGroup};
use crate::{
    base::{GroupId, PluginName, TimestampMs},
    group::{Effects, GroupError, Shard},
    metadata::MetadataImage,
};

impl Shard {
    /// # Errors
    ///
    /// Those of `ConsumerGroupHeartbeat`.
    pub fn consumer_heartbeat(
        &mut self,
        request: ConsumerHeartbeatRequest,
        image: &MetadataImage,
        now: TimestampMs,
    ) -> (Effects, Result<ConsumerHeartbeat, GroupError>) {
        let _ = (request, image, now);
        (Effects::default(), Err(GroupError::CoordinatorNotAvailable))
    }

    /// # Errors
    ///
    /// [`GroupError::GroupIdNotFound`], or [`GroupError::OtherGroupType`] for a classic group.
    pub fn describe_consumer(
        &self,
        group_id: &GroupId,
    ) -> Result<DescribedConsumerGroup, GroupError> {
        let _ = group_id;
        Err(GroupError::GroupIdNotFound)
    }

    /// A plugin has answered, or failed to.
    pub fn consumer_assigned(
        &mut self,
        answer: ConsumerAnswer,
        image: &MetadataImage,
        now: TimestampMs,
    ) -> Effects {
        let _ = (answer, image, now);
        Effects::default()
    }

    /// The effective `klamm.assignor` of a group has changed, or the version of its plugin: the next heartbeat asks anew.
    pub fn consumer_assignor_changed(&mut self, group_id: &GroupId) {
        let _ = group_id;
    }

    /// Groups of this protocol that have members: those that an assignor may be asked for.
    pub fn consumer_protocol_groups(&self) -> Vec<GroupId> {
        Vec::new()
    }

    /// Topics came, went or grew, or brokers moved to other racks: groups look at their topics again at their next heartbeat.
    pub fn metadata_changed(&mut self) {}

    /// What the members of a group choose (`group.remote.assignor`); `None` for the default, and for a group of another type.
    pub fn remote_assignor(&self, group_id: &GroupId) -> Option<PluginName> {
        let _ = group_id;
        None
    }
}
