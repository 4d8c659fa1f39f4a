//! Kafka's `UniformHomogeneousAssignmentBuilder`: all members subscribe to the same topics.
//!
//! Each member has a quota, some of them one more than others. It keeps what it had up to that, and gets the next partitions that
//! nobody has. The larger quotas go to members that can use them at once, where Kafka's go to the first members, so that
//! sometimes less moves here.

use super::{Assignments, GroupSpec, owners::Owners};

pub(super) fn assign(group: &GroupSpec) -> Assignments {
    let mut owners = Owners::of(group);
    let quotas = quotas(owners.loads(), owners.partitions());
    owners.release_above(&quotas);
    let mut free = owners.free().into_iter();
    for (member, quota) in quotas.into_iter().enumerate() {
        let lacks = quota - owners.load(member);
        for (topic, partition) in free.by_ref().take(lacks) {
            owners.give(topic, partition, member);
        }
    }
    owners.into_assignments()
}

/// How many partitions each member is to have.
fn quotas(loads: &[usize], partitions: usize) -> Vec<usize> {
    let Some(least) = partitions.checked_div(loads.len()) else { return Vec::new() };
    let mut larger = partitions % loads.len();
    let mut quotas = vec![least; loads.len()];
    for has_more in [true, false] {
        let members = quotas.iter_mut().zip(loads).filter(|(_, load)| (**load > least) == has_more);
        for (quota, _) in members.take(larger) {
            *quota += 1;
            larger -= 1;
        }
    }
    quotas
}
