//! The one place where a room's errors become Kafka error codes.
//!
//! No `match` here has a wildcard arm: a new variant does not compile until someone has decided what clients are told.

use crate::{
    base::ErrorCode,
    controller::ControllerError,
    group::GroupError,
    log::LogError,
    produce::ProduceError,
    quorum::QuorumError,
    replica::ReplicaError,
    wire::record_batch::{BatchError, CompressionError},
};

impl From<LogError> for ErrorCode {
    fn from(error: LogError) -> Self {
        match error {
            LogError::OffsetOutOfRange { .. } => Self::OffsetOutOfRange,
            LogError::OutOfOrderSequence { .. } => Self::OutOfOrderSequenceNumber,
            LogError::InvalidProducerEpoch { .. } => Self::InvalidProducerEpoch,
            LogError::RecordListTooLarge { .. } => Self::RecordListTooLarge,
            // As Kafka; consumers raise it to their caller, where a storage error would have them wait for ever.
            LogError::CorruptBatch { .. } | LogError::Undecodable { .. } => Self::CorruptMessage,
            LogError::Storage { .. } | LogError::Offline(_) | LogError::DirectoryRefused { .. } => {
                Self::KafkaStorageError
            }
            LogError::Closed(_) => Self::NotLeaderOrFollower,
        }
    }
}

impl From<ReplicaError> for ErrorCode {
    fn from(error: ReplicaError) -> Self {
        match error {
            ReplicaError::UnknownTopicOrPartition => Self::UnknownTopicOrPartition,
            ReplicaError::UnknownTopicId => Self::UnknownTopicId,
            ReplicaError::InconsistentTopicId => Self::InconsistentTopicId,
            ReplicaError::Offline | ReplicaError::NotPersisted => Self::KafkaStorageError,
            ReplicaError::LogDirNotFound => Self::LogDirNotFound,
            ReplicaError::NameTooLong => Self::InvalidTopicException,
            ReplicaError::ReplicaNotAvailable => Self::ReplicaNotAvailable,
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
            ControllerError::InvalidUpdateVersion(_) => Self::InvalidUpdateVersion,
            ControllerError::NoReassignmentInProgress => Self::NoReassignmentInProgress,
            ControllerError::ElectionNotNeeded => Self::ElectionNotNeeded,
            ControllerError::PreferredLeaderNotAvailable => Self::PreferredLeaderNotAvailable,
            ControllerError::EligibleLeadersNotAvailable => Self::EligibleLeadersNotAvailable,
            ControllerError::TooLarge => Self::PolicyViolation,
            ControllerError::ProducerIdsExhausted => Self::UnknownServerError,
        }
    }
}

impl From<ProduceError> for ErrorCode {
    fn from(error: ProduceError) -> Self {
        match error {
            ProduceError::Batch(error) => error.into(),
            ProduceError::NotOneBatch
            | ProduceError::InvalidRequest(_)
            | ProduceError::Refused { .. } => Self::InvalidRecord,
            ProduceError::Transactional => Self::InvalidTxnState,
            // Java splits such a batch and sends its halves.
            ProduceError::TooLarge { .. } | ProduceError::TooManyRecords { .. } => {
                Self::MessageTooLarge
            }
            ProduceError::InvalidTimestamp { .. } => Self::InvalidTimestamp,
            // Retriable, and nothing was stored: the producer sends the same batch again.
            ProduceError::HookFailed(_) | ProduceError::Unfinished | ProduceError::Busy => {
                Self::NotEnoughReplicas
            }
            // Retriable, and the producer may neither renumber nor give up the batch.
            ProduceError::NotEverywhere(_) => Self::NotEnoughReplicasAfterAppend,
            ProduceError::Replica(error) => error.into(),
        }
    }
}

impl From<BatchError> for ErrorCode {
    fn from(error: BatchError) -> Self {
        match error {
            // Not CORRUPT_MESSAGE, which producers answer by sending the same again.
            BatchError::Compression(CompressionError::TooLarge(_)) => Self::MessageTooLarge,
            BatchError::UnknownCompression(_) => Self::UnsupportedCompressionType,
            // A format of old is known, and refused; another one cannot be a batch.
            BatchError::UnsupportedMagic(0 | 1)
            | BatchError::BadRecord { .. }
            | BatchError::BadHeader(_) => Self::InvalidRecord,
            BatchError::UnsupportedMagic(_)
            | BatchError::Truncated { .. }
            | BatchError::BadLength(_)
            | BatchError::CrcMismatch
            | BatchError::Compression(CompressionError::Corrupt { .. }) => Self::CorruptMessage,
        }
    }
}

impl From<GroupError> for ErrorCode {
    fn from(error: GroupError) -> Self {
        match error {
            GroupError::CoordinatorNotAvailable => Self::CoordinatorNotAvailable,
            GroupError::CoordinatorLoadInProgress => Self::CoordinatorLoadInProgress,
            GroupError::NotCoordinator => Self::NotCoordinator,
            GroupError::InvalidGroupId => Self::InvalidGroupId,
            GroupError::InvalidSessionTimeout => Self::InvalidSessionTimeout,
            GroupError::UnknownMemberId => Self::UnknownMemberId,
            GroupError::MemberIdRequired(_) => Self::MemberIdRequired,
            GroupError::FencedInstanceId => Self::FencedInstanceId,
            GroupError::UnreleasedInstanceId => Self::UnreleasedInstanceId,
            GroupError::FencedMemberEpoch => Self::FencedMemberEpoch,
            GroupError::StaleMemberEpoch => Self::StaleMemberEpoch,
            GroupError::UnsupportedAssignor => Self::UnsupportedAssignor,
            GroupError::InvalidRegularExpression(_) => Self::InvalidRegularExpression,
            GroupError::InvalidRequest(_) => Self::InvalidRequest,
            GroupError::IllegalGeneration => Self::IllegalGeneration,
            GroupError::InconsistentGroupProtocol => Self::InconsistentGroupProtocol,
            GroupError::RebalanceInProgress => Self::RebalanceInProgress,
            GroupError::GroupMaxSizeReached => Self::GroupMaxSizeReached,
            GroupError::GroupIdNotFound | GroupError::OtherGroupType => Self::GroupIdNotFound,
            GroupError::UnsupportedVersion(_) => Self::UnsupportedVersion,
            GroupError::NonEmptyGroup => Self::NonEmptyGroup,
            GroupError::SubscribedToTopic => Self::GroupSubscribedToTopic,
            GroupError::OffsetMetadataTooLarge => Self::OffsetMetadataTooLarge,
            // Not MESSAGE_TOO_LARGE: no client expects that of a coordinator.
            GroupError::RecordTooLarge => Self::UnknownServerError,
        }
    }
}
