//! The broker's rules for an answer, for use in a plugin's own tests.

use super::{Assignment, Group, Member};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the broker takes this answer: each partition exactly once, known members only, each once,
/// and nothing that a member does not subscribe to. The error tells the first rule that is broken.
pub fn check(group: &Group, assignments: &[Assignment]) -> Result<(), String> {
    let mut open = partitions(group);
    let mut seen = BTreeSet::new();
    for assignment in assignments {
        let member = find(group, &assignment.member_id)?;
        if !seen.insert(&member.id) {
            return Err(format!("member {} twice", member.id));
        }
        for list in &assignment.partitions {
            for partition in &list.partitions {
                take(&mut open, member, &list.topic, *partition)?;
            }
        }
    }
    match open.into_iter().find(|(_, rest)| !rest.is_empty()) {
        Some((topic, rest)) => Err(format!("partitions {rest:?} of {topic} for nobody")),
        None => Ok(()),
    }
}

fn partitions(group: &Group) -> BTreeMap<&str, BTreeSet<u32>> {
    let indexes = |topic: &super::Topic| topic.partitions.iter().map(|p| p.index).collect();
    group.topics.iter().map(|topic| (topic.name.as_str(), indexes(topic))).collect()
}

fn find<'g>(group: &'g Group, id: &str) -> Result<&'g Member, String> {
    let found = group.members.iter().find(|member| member.id == id);
    found.ok_or_else(|| format!("unknown member {id}"))
}

fn take(
    open: &mut BTreeMap<&str, BTreeSet<u32>>,
    member: &Member,
    topic: &str,
    partition: u32,
) -> Result<(), String> {
    if !member.subscribes_to(topic) {
        return Err(format!("member {} does not subscribe to {topic}", member.id));
    }
    let taken = open.get_mut(topic).is_some_and(|rest| rest.remove(&partition));
    if taken { Ok(()) } else { Err(format!("partition {partition} of {topic} twice, or unknown")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assignor::{Partition, Topic, TopicPartitions};

    fn group() -> Group {
        let member = |id: &str, topics: &[&str]| Member {
            id: id.into(),
            topics: topics.iter().map(|topic| (*topic).into()).collect(),
            ..Member::default()
        };
        let partitions = (0..2).map(|index| Partition { index, ..Partition::default() }).collect();
        Group {
            id: "g".into(),
            members: vec![member("a", &["t"]), member("b", &["u"])],
            topics: vec![Topic { name: "t".into(), partitions }],
        }
    }

    fn give(member: &str, topic: &str, partitions: &[u32]) -> Assignment {
        let list = TopicPartitions { topic: topic.into(), partitions: partitions.to_vec() };
        Assignment { member_id: member.into(), partitions: vec![list] }
    }

    #[test]
    fn each_rule_is_kept_or_told() {
        let cases = [
            (vec![give("a", "t", &[0, 1])], ""),
            (vec![give("a", "t", &[0])], "nobody"),
            (vec![give("a", "t", &[0, 1, 1])], "twice"),
            (vec![give("a", "t", &[0, 1, 2])], "unknown"),
            (vec![give("a", "t", &[0, 1]), give("c", "t", &[])], "unknown member"),
            (vec![give("a", "t", &[0]), give("a", "t", &[1])], "member a twice"),
            (vec![give("a", "t", &[0]), give("b", "t", &[1])], "does not subscribe"),
        ];
        for (answer, complaint) in cases {
            match check(&group(), &answer) {
                Ok(()) => assert_eq!(complaint, ""),
                Err(text) => assert!(!complaint.is_empty() && text.contains(complaint), "{text}"),
            }
        }
    }
}
