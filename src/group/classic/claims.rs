//! Cooperative rebalancing (KIP-429): a partition moves only after its owner has given it up.

use std::collections::BTreeMap;

use super::{Assignments, Subscribed};
use crate::base::{MemberId, TopicName};

/// The target less what other members still claim. A claim is what a member says it owns; of several, the one
/// of the highest generation holds (KIP-792): the others have missed a rebalance.
pub(super) fn withhold(target: &Assignments, members: &[Subscribed]) -> Assignments {
    let owners = owners(members);
    let free_for = |id: &MemberId, topic: &TopicName, partition: i32| {
        owners.get(&(topic, partition)).is_none_or(|claim| claim.members.contains(&id))
    };
    target
        .iter()
        .map(|(id, topics)| {
            let given = topics.iter().filter_map(|(topic, partitions)| {
                let mine: Vec<i32> =
                    partitions.iter().copied().filter(|&it| free_for(id, topic, it)).collect();
                (!mine.is_empty()).then(|| (topic.clone(), mine))
            });
            (id.clone(), given.collect())
        })
        .collect()
}

struct Claim<'a> {
    generation_id: i32,
    /// More than one only if clients misbehave.
    members: Vec<&'a MemberId>,
}

fn owners(members: &[Subscribed]) -> BTreeMap<(&TopicName, i32), Claim<'_>> {
    let mut owners: BTreeMap<(&TopicName, i32), Claim<'_>> = BTreeMap::new();
    for member in members {
        let owned = member.owned.iter().flat_map(|(topic, it)| it.iter().map(move |&p| (topic, p)));
        for partition in owned {
            let claim = owners
                .entry(partition)
                .or_insert(Claim { generation_id: member.generation_id, members: Vec::new() });
            if member.generation_id > claim.generation_id {
                *claim = Claim { generation_id: member.generation_id, members: Vec::new() };
            }
            if member.generation_id == claim.generation_id {
                claim.members.push(&member.member_id);
            }
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: &str, owned: &[i32], generation_id: i32) -> Subscribed {
        Subscribed {
            member_id: id.into(),
            group_instance_id: None,
            client_id: String::new(),
            version: 3,
            topics: vec!["t".into()],
            user_data: Vec::new(),
            owned: BTreeMap::from([("t".into(), owned.to_vec())]),
            generation_id,
            rack: None,
        }
    }

    fn given(a: &[i32], b: &[i32]) -> Assignments {
        [("a", a), ("b", b)]
            .into_iter()
            .map(|(id, it)| {
                let topics = if it.is_empty() { vec![] } else { vec![("t".into(), it.to_vec())] };
                (id.into(), topics.into_iter().collect())
            })
            .collect()
    }

    #[test]
    fn what_another_member_owns_is_withheld() {
        let members = [member("a", &[0, 1], 3), member("b", &[], 3)];
        assert_eq!(withhold(&given(&[0], &[1]), &members), given(&[0], &[]));
    }

    #[test]
    fn a_claim_of_an_older_generation_does_not_hold() {
        let members = [member("a", &[0, 1], 2), member("b", &[1], 3)];
        assert_eq!(withhold(&given(&[0], &[1]), &members), given(&[0], &[1]));
    }

    #[test]
    fn nothing_is_withheld_once_it_was_given_up() {
        let members = [member("a", &[0], 4), member("b", &[], 4)];
        assert_eq!(withhold(&given(&[0], &[1]), &members), given(&[0], &[1]));
    }
}
