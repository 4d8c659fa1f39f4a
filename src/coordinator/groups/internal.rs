//! Offsets for users inside the broker: the progress of transforms behind the log (groups `klamm.transform.TOPIC.NAME`,
//! which never expire).

use std::time::Duration;

use super::{GroupCoordinator, offsets_topic::existing};
use crate::{
    base::{GroupId, MemberId, TopicPartition},
    group::{CommitOffsets, CommittedOffset, FetchOffsets, GroupError, OffsetToCommit},
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
        let mut committed = self.commit(request.clone()).await;
        while waited_for_load(&committed).await {
            committed = self.commit(request.clone()).await;
        }
        committed?.into_iter().collect()
    }

    /// The committed offset of a partition, if any; waits while the group's shard is loading.
    pub async fn committed(
        &self,
        group_id: &GroupId,
        topic_partition: &TopicPartition,
    ) -> Result<Option<CommittedOffset>, GroupError> {
        self.require_offsets_topic().await?;
        let request = FetchOffsets {
            group_id: group_id.clone(),
            member_id: None,
            member_epoch: -1,
            partitions: Some(vec![topic_partition.clone()]),
        };
        let mut fetched = self.fetch(request.clone()).await;
        while waited_for_load(&fetched).await {
            fetched = self.fetch(request.clone()).await;
        }
        Ok(fetched?.pop().and_then(|(_, committed)| committed))
    }

    /// The groups here whose names begin so; waits while shards are loading.
    pub async fn groups_named(&self, prefix: &str) -> Result<Vec<GroupId>, GroupError> {
        let mut listed = self.list().await;
        while waited_for_load(&listed).await {
            listed = self.list().await;
        }
        let groups = listed?.into_iter().map(|it| it.group_id);
        Ok(groups.filter(|it| it.as_str().starts_with(prefix)).collect())
    }

    /// Removes a group without members, if there is such a group.
    pub async fn delete_offsets(&self, group_id: &GroupId) -> Result<(), GroupError> {
        if existing(&self.desk.quorum.image()).is_none() {
            return Ok(());
        }
        let mut deleted = self.delete(group_id.clone()).await;
        while waited_for_load(&deleted).await {
            deleted = self.delete(group_id.clone()).await;
        }
        match deleted {
            Ok(()) | Err(GroupError::GroupIdNotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn require_offsets_topic(&self) -> Result<(), GroupError> {
        match self.ensure_offsets_topic().await {
            Ok(_) => Ok(()),
            Err(_) => Err(GroupError::CoordinatorNotAvailable),
        }
    }
}

/// Whether to ask again, now that the shard has had a while to load.
async fn waited_for_load<T>(result: &Result<T, GroupError>) -> bool {
    let loads = matches!(result, Err(GroupError::CoordinatorLoadInProgress));
    if loads {
        tokio::time::sleep(RETRY).await;
    }
    loads
}
