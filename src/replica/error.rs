//! What can go wrong with a partition, as decisions of the caller.

use crate::log::LogError;

#[derive(Debug, thiserror::Error)]
pub enum ReplicaError {
    #[error("no such topic or partition")]
    UnknownTopicOrPartition,
    #[error("no topic has this id")]
    UnknownTopicId,
    /// The reader's topic is gone, and another one has its name.
    #[error("the topic of this name has another id")]
    InconsistentTopicId,
    /// Its log could not be opened, which is tried again, or its log directory is offline until a restart.
    #[error("the partition's log is offline")]
    Offline,
    #[error("no log directory has this path")]
    LogDirNotFound,
    /// Of the folder that a partition of this name would be moved to.
    #[error("the topic's name is too long for that")]
    NameTooLong,
    /// It exists, and not on this node.
    #[error("this node has no replica of the partition")]
    ReplicaNotAvailable,
    #[error("this node does not lead the partition")]
    NotLeader,
    #[error("the caller's leader epoch is older")]
    FencedLeaderEpoch,
    #[error("the caller's leader epoch is newer")]
    UnknownLeaderEpoch,
    #[error("fewer replicas are in sync than min.insync.replicas")]
    NotEnoughReplicas,
    /// Stored, but not committed in time.
    #[error("not committed in time")]
    TimedOut,
    /// The records are deleted, and may be back after a crash.
    #[error("the start of the log could not be written down")]
    NotPersisted,
    #[error(transparent)]
    Log(#[from] LogError),
}
