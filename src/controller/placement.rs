//! Which brokers hold a partition: chosen round the brokers, or as the client asks.

use super::ControllerError;
use crate::{
    base::{BrokerId, LeaderEpoch, TopicId},
    metadata::{MetadataImage, MetadataRecord},
};

/// Replicas of the partitions `first..first + count`, each leading set one broker further, so that leaders are spread.
pub(super) fn place(
    image: &MetadataImage,
    topic_id: TopicId,
    first: i32,
    count: i32,
    replication_factor: i16,
) -> Result<Vec<Vec<BrokerId>>, ControllerError> {
    let brokers: Vec<_> = image.active_brokers().map(|(id, _)| id).collect();
    let wanted = usize::try_from(replication_factor).unwrap_or(0);
    if wanted == 0 || wanted > brokers.len() {
        let reason = if brokers.is_empty() {
            "All brokers are currently fenced.".into()
        } else {
            format!(
                "The target replication factor of {replication_factor} cannot be reached because only {} broker(s) are registered.",
                brokers.len()
            )
        };
        return Err(ControllerError::InvalidReplicationFactor(format!(
            "Unable to replicate the partition {replication_factor} time(s): {reason}"
        )));
    }
    // Topics begin at different brokers; the id is as good as a random number, and is in the log.
    let start = (topic_id.0.as_u128() % brokers.len() as u128) as usize;
    let replicas = |partition: i32| -> Vec<BrokerId> {
        let from = start + usize::try_from(partition).unwrap_or(0);
        brokers.iter().cycle().skip(from % brokers.len()).take(wanted).copied().collect()
    };
    Ok((first..first.saturating_add(count)).map(replicas).collect())
}

/// Checks a client's own assignment of one partition.
pub(super) fn check_assignment(
    image: &MetadataImage,
    replicas: &[BrokerId],
    replication_factor: Option<usize>,
) -> Result<(), ControllerError> {
    let refuse = |reason: String| Err(ControllerError::InvalidReplicaAssignment(reason));
    if replicas.is_empty() {
        return refuse("The manual partition assignment includes an empty replica list.".into());
    }
    let mut sorted = replicas.to_vec();
    sorted.sort_unstable();
    if let Some(unknown) = sorted.iter().find(|it| !image.brokers.contains_key(it)) {
        return refuse(format!(
            "The manual partition assignment includes broker {}, but no such broker is registered.",
            unknown.0
        ));
    }
    if let Some([twice, _]) = sorted.array_windows().find(|[a, b]| a == b) {
        return refuse(format!(
            "The manual partition assignment includes the broker {} more than once.",
            twice.0
        ));
    }
    match replication_factor {
        Some(others) if others != replicas.len() => refuse(format!(
            "The manual partition assignment includes a partition with {} replica(s), but this is not consistent with previous partitions, which have {others} replica(s).",
            replicas.len()
        )),
        _ => Ok(()),
    }
}

/// The record of a new partition, led by its first active replica.
pub(super) fn new_partition(
    image: &MetadataImage,
    topic_id: TopicId,
    partition: i32,
    replicas: Vec<BrokerId>,
) -> Result<MetadataRecord, ControllerError> {
    let is_active = |id: &&BrokerId| image.brokers.get(id).is_some_and(|it| !it.fenced);
    let isr: Vec<BrokerId> = replicas.iter().filter(is_active).copied().collect();
    let Some(&leader) = isr.first() else {
        return Err(ControllerError::InvalidReplicaAssignment(format!(
            "All brokers specified in the manual partition assignment for partition {partition} are fenced or in controlled shutdown."
        )));
    };
    Ok(MetadataRecord::Partition {
        topic_id,
        partition,
        leader: Some(leader),
        leader_epoch: LeaderEpoch(0),
        partition_epoch: 0,
        replicas,
        isr,
    })
}
