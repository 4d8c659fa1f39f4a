//! Where replicas are to be, and who of them is to lead. There is one node, so both are settled: what is left is to say
//! so as Kafka does.

use super::{ControllerError, placement::check_assignment};
use crate::{
    base::{BrokerId, TopicPartition},
    metadata::{MetadataImage, PartitionImage},
};

/// Which leader an election is for (KIP-460).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElectionType {
    /// The first replica, if it is in sync.
    Preferred,
    /// Any replica, where none leads.
    Unclean,
}

/// Moves a partition to `replicas`, or stops its move if `None`.
///
/// # Errors
///
/// [`ControllerError::InvalidReplicaAssignment`] for every place but the one where it is.
pub fn reassign(
    image: &MetadataImage,
    partition: &TopicPartition,
    replicas: Option<&[BrokerId]>,
    may_change_count: bool,
) -> Result<(), ControllerError> {
    let current = find(image, partition)?;
    let Some(replicas) = replicas else { return Err(ControllerError::NoReassignmentInProgress) };
    let (before, after) = (current.replicas.len(), replicas.len());
    if before != after && !may_change_count {
        return Err(ControllerError::InvalidReplicationFactor(format!(
            "The replication factor is changed from {before} to {after}"
        )));
    }
    check_assignment(image, replicas, None)?;
    if replicas == current.replicas {
        return Ok(());
    }
    Err(ControllerError::InvalidReplicaAssignment(
        "Replicas cannot be moved to another broker yet.".into(),
    ))
}

/// Lets another replica lead.
///
/// # Errors
///
/// [`ControllerError::ElectionNotNeeded`] where the right one leads, and otherwise that none can be elected: there is no other.
pub fn elect_leader(
    image: &MetadataImage,
    partition: &TopicPartition,
    election_type: ElectionType,
) -> Result<(), ControllerError> {
    let current = find(image, partition)?;
    let is_settled = match election_type {
        ElectionType::Preferred => {
            current.leader.is_some_and(|it| Some(&it) == current.replicas.first())
        }
        ElectionType::Unclean => current.leader.is_some(),
    };
    Err(match election_type {
        _ if is_settled => ControllerError::ElectionNotNeeded,
        ElectionType::Preferred => ControllerError::PreferredLeaderNotAvailable,
        ElectionType::Unclean => ControllerError::EligibleLeadersNotAvailable,
    })
}

fn find<'a>(
    image: &'a MetadataImage,
    partition: &TopicPartition,
) -> Result<&'a PartitionImage, ControllerError> {
    let found = image.partition(partition.topic.as_str(), partition.partition);
    found.ok_or(ControllerError::UnknownTopic)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ElectionType::{Preferred, Unclean};

    use super::*;
    use crate::{
        base::{LeaderEpoch, TopicId},
        metadata::{BrokerImage, TopicImage},
    };

    /// `t-0`, led by its only replica; `t-1`, which nobody leads; and two brokers.
    fn image() -> MetadataImage {
        let partition = |leader| PartitionImage {
            leader,
            leader_epoch: LeaderEpoch(0),
            partition_epoch: 0,
            replicas: vec![BrokerId(1)],
            isr: vec![BrokerId(1)],
        };
        let topic = TopicImage {
            id: TopicId(uuid::Uuid::from_u128(7)),
            name: "t".into(),
            partitions: vec![partition(Some(BrokerId(1))), partition(None)],
        };
        let broker = BrokerImage { epoch: 1, listeners: Vec::new(), rack: None, fenced: false };
        let mut image = MetadataImage::default();
        image.topics.insert("t".into(), Arc::new(topic));
        image.brokers.extend([(BrokerId(1), broker.clone()), (BrokerId(2), broker)]);
        image
    }

    #[test]
    fn a_partition_may_be_put_only_where_it_is() {
        let image = image();
        let reassign = |partition, replicas: Option<&[i32]>, may_change_count| {
            let replicas: Option<Vec<_>> =
                replicas.map(|it| it.iter().copied().map(BrokerId).collect());
            let key = TopicPartition::new("t", partition);
            reassign(&image, &key, replicas.as_deref(), may_change_count)
        };
        assert_eq!(reassign(0, Some(&[1]), true), Ok(()));
        assert_eq!(reassign(0, None, true), Err(ControllerError::NoReassignmentInProgress));
        assert_eq!(reassign(2, Some(&[1]), true), Err(ControllerError::UnknownTopic));
        assert_eq!(reassign(-1, None, true), Err(ControllerError::UnknownTopic));
        for refused in [&[][..], &[9], &[1, 1], &[2], &[1, 2]] {
            let error = reassign(0, Some(refused), true).unwrap_err();
            assert!(matches!(error, ControllerError::InvalidReplicaAssignment(_)), "{error}");
        }
        let error = reassign(0, Some(&[1, 2]), false).unwrap_err();
        assert!(matches!(error, ControllerError::InvalidReplicationFactor(_)), "{error}");
    }

    #[test]
    fn an_election_finds_its_winner_or_nobody() {
        let image = image();
        let elect = |partition, election_type| {
            elect_leader(&image, &TopicPartition::new("t", partition), election_type).unwrap_err()
        };
        assert_eq!(elect(0, Preferred), ControllerError::ElectionNotNeeded);
        assert_eq!(elect(0, Unclean), ControllerError::ElectionNotNeeded);
        assert_eq!(elect(1, Preferred), ControllerError::PreferredLeaderNotAvailable);
        assert_eq!(elect(1, Unclean), ControllerError::EligibleLeadersNotAvailable);
        assert_eq!(elect(2, Unclean), ControllerError::UnknownTopic);
    }
}
