//! What handlers ask of the coordinator. Each waits until the answer's records are committed.

use tokio::sync::{mpsc, oneshot};

use super::{
    GroupCoordinator,
    event::{Answer, GroupEvent, Results},
};
use crate::{
    base::{BrokerId, GroupId, TopicPartition},
    coordinator::InternalTopicError,
    group::{
        CommitOffsets, DescribedGroup, FetchOffsets, Fetched, GroupError, ListedGroup,
        classic::{HeartbeatRequest, JoinRequest, Joined, LeavingMember, SyncRequest, Synced},
        consumer::{ConsumerHeartbeat, ConsumerHeartbeatRequest, DescribedConsumerGroup},
        partition_for,
    },
};

impl GroupCoordinator {
    /// The broker that coordinates a group; creates `__consumer_offsets` if it is not there. `None` while the partition
    /// has no leader.
    pub async fn coordinator_of(
        &self,
        group_id: &GroupId,
    ) -> Result<Option<BrokerId>, InternalTopicError> {
        let topic = self.ensure_offsets_topic().await?;
        let count = topic.partitions.len() as i32;
        if count == 0 {
            return Ok(None);
        }
        let index = partition_for(group_id.as_str(), count);
        let partition = usize::try_from(index).ok().and_then(|it| topic.partitions.get(it));
        Ok(partition.and_then(|it| it.leader))
    }

    pub async fn join(&self, request: JoinRequest) -> Result<Joined, GroupError> {
        let shard = self.shard_of(&request.group_id)?;
        ask(shard, |answer| GroupEvent::Join(request, answer)).await
    }

    pub async fn sync(&self, request: SyncRequest) -> Result<Synced, GroupError> {
        let shard = self.shard_of(&request.group_id)?;
        ask(shard, |answer| GroupEvent::Sync(request, answer)).await
    }

    pub async fn heartbeat(&self, request: HeartbeatRequest) -> Result<(), GroupError> {
        let shard = self.shard_of(&request.group_id)?;
        ask(shard, |answer| GroupEvent::Heartbeat(request, answer)).await
    }

    /// One result for each member, in order.
    pub async fn leave(
        &self,
        group_id: GroupId,
        members: Vec<LeavingMember>,
    ) -> Result<Results, GroupError> {
        let shard = self.shard_of(&group_id)?;
        ask(shard, |answer| GroupEvent::Leave(group_id, members, answer)).await
    }

    /// One result for each offset, in order.
    pub async fn commit(&self, request: CommitOffsets) -> Result<Results, GroupError> {
        let shard = self.shard_of(&request.group_id)?;
        ask(shard, |answer| GroupEvent::Commit(request, answer)).await
    }

    /// The offsets of these partitions, or of all that have one.
    pub async fn fetch(&self, request: FetchOffsets) -> Result<Fetched, GroupError> {
        let shard = self.shard_of(&request.group_id)?;
        ask(shard, |answer| GroupEvent::Fetch(request, answer)).await
    }

    pub async fn consumer_heartbeat(
        &self,
        request: ConsumerHeartbeatRequest,
    ) -> Result<ConsumerHeartbeat, GroupError> {
        let shard = self.shard_of(&request.group_id)?;
        ask(shard, |answer| GroupEvent::ConsumerHeartbeat(request, answer)).await
    }

    pub async fn describe_consumer(
        &self,
        group_id: GroupId,
    ) -> Result<DescribedConsumerGroup, GroupError> {
        let shard = self.shard_of(&group_id)?;
        ask(shard, |answer| GroupEvent::DescribeConsumer(group_id, answer)).await
    }

    pub async fn describe(&self, group_id: GroupId) -> Result<DescribedGroup, GroupError> {
        let shard = self.shard_of(&group_id)?;
        ask(shard, |answer| GroupEvent::Describe(group_id, answer)).await
    }

    pub async fn delete(&self, group_id: GroupId) -> Result<(), GroupError> {
        let shard = self.shard_of(&group_id)?;
        ask(shard, |answer| GroupEvent::Delete(group_id, answer)).await
    }

    /// Removes committed offsets; one result for each, in order.
    pub async fn delete_partition_offsets(
        &self,
        group_id: GroupId,
        partitions: Vec<TopicPartition>,
    ) -> Result<Results, GroupError> {
        let shard = self.shard_of(&group_id)?;
        ask(shard, |answer| GroupEvent::DeleteOffsets(group_id, partitions, answer)).await
    }

    /// All groups that this node coordinates.
    ///
    /// # Errors
    ///
    /// [`GroupError::CoordinatorLoadInProgress`] while one shard is being loaded: a list without its groups would be wrong.
    pub async fn list(&self) -> Result<Vec<ListedGroup>, GroupError> {
        let mut groups = Vec::new();
        for shard in self.all_shards() {
            groups.extend(ask(shard, GroupEvent::List).await?);
        }
        Ok(groups)
    }
}

async fn ask<T>(
    shard: mpsc::Sender<GroupEvent>,
    event: impl FnOnce(Answer<T>) -> GroupEvent,
) -> Result<T, GroupError> {
    let (answer, answered) = oneshot::channel();
    shard.send(event(answer)).await.map_err(|_| GroupError::NotCoordinator)?;
    // Not held while waiting: a channel closes when its last sender goes.
    drop(shard);
    // The machine was dropped with who waited in it.
    answered.await.unwrap_or(Err(GroupError::CoordinatorNotAvailable))
}
