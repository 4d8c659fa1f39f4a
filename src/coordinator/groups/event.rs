//! What a shard's machine can be told.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tokio::sync::oneshot;

use crate::{
    base::{GroupId, PluginName, TopicId, TopicName, TopicPartition},
    coordinator::driver::Unavailable,
    group::{
        CommitOffsets, DescribedGroup, FetchOffsets, Fetched, GroupError, ListedGroup,
        classic::{
            AssignorAnswer, HeartbeatRequest, JoinRequest, Joined, LeavingMember, SyncRequest,
            Synced,
        },
        consumer::{
            ConsumerAnswer, ConsumerHeartbeat, ConsumerHeartbeatRequest, DescribedConsumerGroup,
        },
    },
};

/// Who waits for an answer.
pub(super) type Answer<T> = oneshot::Sender<Result<T, GroupError>>;

/// One result for each part of a request.
pub(super) type Results = Vec<Result<(), GroupError>>;

pub(super) enum GroupEvent {
    /// Its `assignor` is filled in by the driver, as that of a sync.
    Join(JoinRequest, Answer<Joined>),
    Sync(SyncRequest, Answer<Synced>),
    Heartbeat(HeartbeatRequest, Answer<()>),
    Leave(GroupId, Vec<LeavingMember>, Answer<Results>),
    Commit(CommitOffsets, Answer<Results>),
    Fetch(FetchOffsets, Answer<Fetched>),
    Describe(GroupId, Answer<DescribedGroup>),
    /// Its `assignors` are filled in by the driver.
    ConsumerHeartbeat(ConsumerHeartbeatRequest, Answer<ConsumerHeartbeat>),
    DescribeConsumer(GroupId, Answer<DescribedConsumerGroup>),
    List(Answer<Vec<ListedGroup>>),
    Delete(GroupId, Answer<()>),
    DeleteOffsets(GroupId, Vec<TopicPartition>, Answer<Results>),
    /// A plugin was asked, and this came of it.
    Assigned(AssignorAnswer),
    ConsumerAssigned(ConsumerAnswer),
    /// The effective `klamm.assignor` of a group has changed.
    AssignorChanged(GroupId),
    /// These plugins have a new version, or none any more.
    PluginsReloaded(Arc<BTreeSet<PluginName>>),
    TopicsDeleted(Arc<BTreeMap<TopicName, TopicId>>),
    /// Topics came, went or grew, or the racks of their replicas changed.
    TopicsChanged,
}

impl GroupEvent {
    pub(super) fn refuse(self, why: Unavailable) {
        match self {
            Self::Join(_, answer) => refuse(answer, why),
            Self::Sync(_, answer) => refuse(answer, why),
            Self::Heartbeat(_, answer) | Self::Delete(_, answer) => refuse(answer, why),
            Self::Leave(_, _, answer)
            | Self::Commit(_, answer)
            | Self::DeleteOffsets(_, _, answer) => refuse(answer, why),
            Self::Fetch(_, answer) => refuse(answer, why),
            Self::Describe(_, answer) => refuse(answer, why),
            Self::ConsumerHeartbeat(_, answer) => refuse(answer, why),
            Self::DescribeConsumer(_, answer) => refuse(answer, why),
            Self::List(answer) => refuse(answer, why),
            // Nobody waits: what a load finds is newer, and an offset tells which topic it was meant for.
            Self::Assigned(_)
            | Self::ConsumerAssigned(_)
            | Self::AssignorChanged(_)
            | Self::PluginsReloaded(_)
            | Self::TopicsDeleted(_)
            | Self::TopicsChanged => {}
        }
    }
}

fn refuse<T>(answer: Answer<T>, why: Unavailable) {
    // Whoever asked may have gone.
    let _ = answer.send(Err(why.into()));
}

impl From<Unavailable> for GroupError {
    fn from(why: Unavailable) -> Self {
        match why {
            Unavailable::Loading => Self::CoordinatorLoadInProgress,
            Unavailable::Lost => Self::CoordinatorNotAvailable,
        }
    }
}
