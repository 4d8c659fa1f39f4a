//! Offsets for users inside the broker: the progress of transforms behind the log (groups `klamm.transform.TOPIC.NAME`,
//! which never expire).

use std::time::Duration;

use super::GroupCoordinator;
use crate::{
    base::{GroupId, MemberId, TopicPartition},
    group::{CommitOffsets, CommittedOffset, GroupError, OffsetToCommit},
};

/// While the group's shard is loading; there is no client that would ask again.
const RETRY: Duration = Duration::from_millis(50);

impl GroupCoordinator {
    /// Stores offsets of a group without members; waits while its shard is loading.
    ///
    /// # Errors
    ///
    /// [`GroupError::NotCoordinator`] when another node has the group; [`GroupError::UnknownMemberId`] when
    /// consumers have joined it.
    pub async fn commit_offsets(
        &self,
        group_id: &GroupId,
        offsets: Vec<OffsetToCommit>,
    ) -> Result<(), GroupError> {
        self.require_offsets_topic().await?;
        let request = CommitOffsets {
            group_id: group_id.clone(),
            member_id: MemberId::from(""),
            group_instance_id: None,
            generation_id: -1,
            offsets,
            retention_time_ms: None,
            tells_missing_group: false,
        };
        loop {
            match self.commit(request.clone()).await {
                Err(GroupError::CoordinatorLoadInProgress) => tokio::time::sleep(RETRY).await,
                result => return result?.into_iter().collect(),
            }
        }
    }

    /// The committed offset of a partition, if any; waits while the group's shard is loading.
    pub async fn committed(
        &self,
        group_id: &GroupId,
        topic_partition: &TopicPartition,
    ) -> Result<Option<CommittedOffset>, GroupError> {
        self.require_offsets_topic().await?;
        loop {
            let partitions = Some(vec![topic_partition.clone()]);
            match self.fetch(group_id.clone(), partitions).await {
                Err(GroupError::CoordinatorLoadInProgress) => tokio::time::sleep(RETRY).await,
                result => return Ok(result?.pop().and_then(|(_, committed)| committed)),
            }
        }
    }

    async fn require_offsets_topic(&self) -> Result<(), GroupError> {
        match self.ensure_offsets_topic().await {
            Ok(_) => Ok(()),
            Err(_) => Err(GroupError::CoordinatorNotAvailable),
        }
    }
}
