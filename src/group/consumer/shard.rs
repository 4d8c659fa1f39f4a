//! What a shard does for its consumer groups.

use super::{ConsumerHeartbeat, ConsumerHeartbeatRequest, DescribedConsumerGroup};
use crate::{
    base::{GroupId, TimestampMs},
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
    /// [`GroupError::GroupIdNotFound`], also for a group of another type.
    pub fn describe_consumer(
        &self,
        group_id: &GroupId,
    ) -> Result<DescribedConsumerGroup, GroupError> {
        let _ = group_id;
        Err(GroupError::GroupIdNotFound)
    }

    /// Topics came, went or grew: groups that read them, or match them, get a new epoch at their next heartbeat.
    pub fn metadata_changed(&mut self, image: &MetadataImage, now: TimestampMs) -> Effects {
        let _ = (image, now);
        Effects::default()
    }
}
