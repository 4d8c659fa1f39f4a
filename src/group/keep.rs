//! What a group gets whose assignor plugin has failed (`on-failure = "keep"`): its last assignment, cut to present members
//! and subscriptions, and the rest spread evenly.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::MemberId;

/// Partitions of each member, by topic: by its name or its id.
pub(super) type Shares<T> = BTreeMap<MemberId, BTreeMap<T, Vec<i32>>>;

pub(super) fn keep<T: Ord + Clone>(
    last: &Shares<T>,
    subscriptions: &BTreeMap<MemberId, Vec<T>>,
    partitions: &BTreeMap<T, i32>,
) -> Shares<T> {
    let mut free: BTreeSet<(&T, i32)> = partitions
        .iter()
        .flat_map(|(topic, &count)| (0..count).map(move |partition| (topic, partition)))
        .collect();
    let mut kept: Shares<T> =
        subscriptions.keys().map(|id| (id.clone(), BTreeMap::new())).collect();
    for (id, topics) in &mut kept {
        let Some(had) = last.get(id) else { continue };
        let subscribed = subscriptions.get(id).map(Vec::as_slice).unwrap_or_default();
        for (topic, partitions) in had.iter().filter(|it| subscribed.contains(it.0)) {
            let mine: Vec<i32> =
                partitions.iter().copied().filter(|&it| free.remove(&(topic, it))).collect();
            if !mine.is_empty() {
                topics.insert(topic.clone(), mine);
            }
        }
    }
    spread(&mut kept, free, subscriptions);
    kept
}

/// Each free partition goes to the subscriber with the fewest.
fn spread<T: Ord + Clone>(
    kept: &mut Shares<T>,
    free: BTreeSet<(&T, i32)>,
    subscriptions: &BTreeMap<MemberId, Vec<T>>,
) {
    let mut loads: BTreeMap<MemberId, usize> =
        kept.iter().map(|(id, it)| (id.clone(), it.values().map(Vec::len).sum())).collect();
    for (topic, partition) in free {
        let subscriber = subscriptions
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of members that all read topic `t`.
    fn keep_of(
        last: &Shares<&'static str>,
        members: &[&str],
        partitions: i32,
    ) -> Shares<&'static str> {
        let subscriptions = members.iter().map(|&id| (id.into(), vec!["t"])).collect();
        keep(last, &subscriptions, &BTreeMap::from([("t", partitions)]))
    }

    fn shares(of: &[(&str, &[i32])]) -> Shares<&'static str> {
        of.iter()
            .map(|&(id, it)| {
                let topics = if it.is_empty() { vec![] } else { vec![("t", it.to_vec())] };
                (id.into(), topics.into_iter().collect())
            })
            .collect()
    }

    #[test]
    fn who_stays_keeps_what_they_had_and_shares_the_rest() {
        let last = shares(&[("a", &[0, 1]), ("b", &[2, 3]), ("c", &[4, 5])]);
        assert_eq!(keep_of(&last, &["a", "b"], 6), shares(&[("a", &[0, 1, 4]), ("b", &[2, 3, 5])]));
    }

    #[test]
    fn what_is_not_there_any_more_is_cut() {
        let last = shares(&[("a", &[0, 7])]);
        assert_eq!(keep_of(&last, &["a", "b"], 2), shares(&[("a", &[0]), ("b", &[1])]));
    }

    #[test]
    fn two_claims_to_a_partition_are_settled() {
        let last = shares(&[("a", &[0]), ("b", &[0])]);
        let kept = keep_of(&last, &["a", "b"], 1);
        assert_eq!(kept, shares(&[("a", &[0]), ("b", &[])]));
    }
}
