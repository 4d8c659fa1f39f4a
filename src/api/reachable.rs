//! Which brokers a caller can be told an address of: those that have a listener of the name that it came in by.

use crate::{
    base::BrokerId,
    metadata::{MetadataImage, PartitionImage},
};

pub(super) fn is_reachable(image: &MetadataImage, listener: &str, id: BrokerId) -> bool {
    let broker = image.brokers.get(&id);
    broker.is_some_and(|it| !it.fenced && it.listener(listener).is_some())
}

/// Who leads, if the caller can reach it.
pub(super) fn reachable_leader(
    image: &MetadataImage,
    listener: &str,
    partition: &PartitionImage,
) -> Option<BrokerId> {
    partition.leader.filter(|it| is_reachable(image, listener, *it))
}
