//! The one place where a room's errors become Kafka error codes.
//!
//! No `match` here has a wildcard arm: a new variant does not compile until someone has decided what clients are told.

use crate::{
    base::ErrorCode, controller::ControllerError, log::LogError, quorum::QuorumError,
    replica::ReplicaError, wire::record_batch::BatchError,
};

impl From<LogError> for ErrorCode {
    fn from(error: LogError) -> Self {
        match error {
            LogError::OffsetOutOfRange { .. } => Self::OffsetOutOfRange,
            LogError::OutOfOrderSequence { .. } => Self::OutOfOrderSequenceNumber,
            LogError::InvalidProducerEpoch { .. } => Self::InvalidProducerEpoch,
            LogError::RecordListTooLarge { .. } => Self::RecordListTooLarge,
            // Retriable on purpose: another replica has an intact copy.
            LogError::CorruptBatch { .. } | LogError::Storage { .. } => Self::KafkaStorageError,
        }
    }
}

impl From<ReplicaError> for ErrorCode {
    fn from(error: ReplicaError) -> Self {
        match error {
            ReplicaError::UnknownTopicOrPartition => Self::UnknownTopicOrPartition,
            ReplicaError::UnknownTopicId => Self::UnknownTopicId,
            ReplicaError::NotLeader => Self::NotLeaderOrFollower,
            ReplicaError::FencedLeaderEpoch => Self::FencedLeaderEpoch,
            ReplicaError::UnknownLeaderEpoch => Self::UnknownLeaderEpoch,
            ReplicaError::NotEnoughReplicas => Self::NotEnoughReplicas,
            ReplicaError::TimedOut => Self::RequestTimedOut,
            ReplicaError::Log(error) => error.into(),
        }
    }
}

impl From<QuorumError> for ErrorCode {
    fn from(error: QuorumError) -> Self {
        match error {
            QuorumError::NotController => Self::NotController,
            QuorumError::Storage(_) => Self::KafkaStorageError,
            QuorumError::Stopped => Self::BrokerNotAvailable,
            QuorumError::ProducerIdsExhausted => Self::UnknownServerError,
        }
    }
}

impl From<&ControllerError> for ErrorCode {
    fn from(error: &ControllerError) -> Self {
        match error {
            ControllerError::InvalidRequest(_) => Self::InvalidRequest,
            ControllerError::InvalidTopic(_) => Self::InvalidTopicException,
            ControllerError::TopicExists(_) => Self::TopicAlreadyExists,
            ControllerError::UnknownTopic => Self::UnknownTopicOrPartition,
            ControllerError::UnknownTopicId => Self::UnknownTopicId,
            ControllerError::InvalidPartitions(_) => Self::InvalidPartitions,
            ControllerError::InvalidReplicationFactor(_) => Self::InvalidReplicationFactor,
            ControllerError::InvalidReplicaAssignment(_) => Self::InvalidReplicaAssignment,
            ControllerError::InvalidConfig(_) => Self::InvalidConfig,
            ControllerError::TooLarge => Self::PolicyViolation,
            ControllerError::ProducerIdsExhausted => Self::UnknownServerError,
        }
    }
}

impl From<BatchError> for ErrorCode {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::Truncated { .. }
            | BatchError::BadLength(_)
            | BatchError::CrcMismatch
            | BatchError::Compression(_) => Self::CorruptMessage,
            BatchError::UnsupportedMagic(_) => Self::UnsupportedForMessageFormat,
            BatchError::UnknownCompression(_) => Self::UnsupportedCompressionType,
            BatchError::BadRecord { .. } | BatchError::BadHeader(_) => Self::InvalidRecord,
        }
    }
}
