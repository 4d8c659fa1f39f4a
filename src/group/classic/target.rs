//! The target of a group that a plugin assigns: who should read what, and what that was decided from.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::base::{MemberId, PluginName, TopicName};

/// Partitions of each member.
pub type Assignments = BTreeMap<MemberId, BTreeMap<TopicName, Vec<i32>>>;

/// What a target depends on. While it stays the same, a cooperative group works towards the same target
/// over as many rebalances as that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetInputs {
    pub assignor: PluginName,
    /// Of the plugin's file.
    pub sha256: Arc<str>,
    pub subscriptions: BTreeMap<MemberId, Vec<TopicName>>,
    /// Partition counts of the topics that exist.
    pub partitions: BTreeMap<TopicName, i32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub inputs: TargetInputs,
    pub assignments: Assignments,
}

/// The last assignment cut to present members and subscriptions, the rest spread evenly: what a failed plugin's
/// group gets (`on-failure = "keep"`).
pub(super) fn keep(last: &Assignments, inputs: &TargetInputs) -> Assignments {
    let mut free: BTreeSet<(&TopicName, i32)> = inputs
        .partitions
        .iter()
        .flat_map(|(topic, &count)| (0..count).map(move |partition| (topic, partition)))
        .collect();
    let mut kept: Assignments =
        inputs.subscriptions.keys().map(|id| (id.clone(), BTreeMap::new())).collect();
    for (id, topics) in &mut kept {
        let Some(had) = last.get(id) else { continue };
        let subscribed = inputs.subscriptions.get(id).map(Vec::as_slice).unwrap_or_default();
        for (topic, partitions) in had.iter().filter(|it| subscribed.contains(it.0)) {
            let mine: Vec<i32> =
                partitions.iter().copied().filter(|&it| free.remove(&(topic, it))).collect();
            if !mine.is_empty() {
                topics.insert(topic.clone(), mine);
            }
        }
    }
    spread(&mut kept, free, inputs);
    kept
}

/// Each free partition goes to the subscriber with the fewest.
fn spread(kept: &mut Assignments, free: BTreeSet<(&TopicName, i32)>, inputs: &TargetInputs) {
    let mut loads: BTreeMap<MemberId, usize> =
        kept.iter().map(|(id, it)| (id.clone(), it.values().map(Vec::len).sum())).collect();
    for (topic, partition) in free {
        let subscriber = inputs
            .subscriptions
            .iter()
            .filter(|(_, topics)| topics.contains(topic))
            .map(|(id, _)| id)
            .min_by_key(|id| (loads.get(*id).copied().unwrap_or(0), *id));
        let Some(id) = subscriber else { continue };
        *loads.entry(id.clone()).or_default() += 1;
        kept.entry(id.clone()).or_default().entry(topic.clone()).or_default().push(partition);
    }
    for partitions in kept.values_mut().flat_map(BTreeMap::values_mut) {
        partitions.sort_unstable();
    }
}

/// Without empty topics and members, partitions sorted: two that mean the same are equal.
pub(super) fn normal(assignments: &Assignments) -> Assignments {
    let mut normal = assignments.clone();
    for topics in normal.values_mut() {
        for partitions in topics.values_mut() {
            partitions.sort_unstable();
        }
        topics.retain(|_, it| !it.is_empty());
    }
    normal.retain(|_, it| !it.is_empty());
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(members: &[&str], partitions: i32) -> TargetInputs {
        TargetInputs {
            assignor: "sticky".into(),
            sha256: "".into(),
            subscriptions: members.iter().map(|&id| (id.into(), vec!["t".into()])).collect(),
            partitions: BTreeMap::from([("t".into(), partitions)]),
        }
    }

    fn assignments(of: &[(&str, &[i32])]) -> Assignments {
        of.iter()
            .map(|&(id, it)| {
                let topics = if it.is_empty() { vec![] } else { vec![("t".into(), it.to_vec())] };
                (id.into(), topics.into_iter().collect())
            })
            .collect()
    }

    #[test]
    fn who_stays_keeps_what_they_had_and_shares_the_rest() {
        let last = assignments(&[("a", &[0, 1]), ("b", &[2, 3]), ("c", &[4, 5])]);
        assert_eq!(
            keep(&last, &inputs(&["a", "b"], 6)),
            assignments(&[("a", &[0, 1, 4]), ("b", &[2, 3, 5])])
        );
    }

    #[test]
    fn what_is_not_there_any_more_is_cut() {
        let last = assignments(&[("a", &[0, 7])]);
        assert_eq!(keep(&last, &inputs(&["a", "b"], 2)), assignments(&[("a", &[0]), ("b", &[1])]));
    }

    #[test]
    fn two_claims_to_a_partition_are_settled() {
        let last = assignments(&[("a", &[0]), ("b", &[0])]);
        let kept = keep(&last, &inputs(&["a", "b"], 1));
        assert_eq!(kept, assignments(&[("a", &[0]), ("b", &[])]));
    }
}
