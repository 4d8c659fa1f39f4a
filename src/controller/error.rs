//! Why the controller refuses. The messages are Kafka's where it has one: people search for them.

use crate::base::TopicName;

/// A refusal; `api/error.rs` has the code of each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControllerError {
    #[error("{0}")]
    InvalidRequest(String),
    #[error("{0}")]
    InvalidTopic(String),
    #[error("Topic '{0}' already exists.")]
    TopicExists(TopicName),
    #[error("This server does not host this topic-partition.")]
    UnknownTopic,
    #[error("This server does not host this topic ID.")]
    UnknownTopicId,
    #[error("{0}")]
    InvalidPartitions(String),
    #[error("{0}")]
    InvalidReplicationFactor(String),
    #[error("{0}")]
    InvalidReplicaAssignment(String),
    #[error("{0}")]
    InvalidConfig(String),
    #[error("{0}")]
    InvalidUpdateVersion(String),
    #[error("No partition reassignment is in progress.")]
    NoReassignmentInProgress,
    #[error("Leader election not needed for topic partition.")]
    ElectionNotNeeded,
    #[error("The preferred leader was not available.")]
    PreferredLeaderNotAvailable,
    #[error("Eligible topic partition leaders are not available.")]
    EligibleLeadersNotAvailable,
    #[error("Unable to perform excessively large batch operation.")]
    TooLarge,
    #[error("Exhausted all producerIds as the next block's end producerId has exceeded the limit.")]
    ProducerIdsExhausted,
}
