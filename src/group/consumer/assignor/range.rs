//! Kafka's `RangeAssignor`: each topic is cut into as many ranges as it has subscribers, the first of them larger by one where
//! that is needed. Static members come first, by their instance ids: a member that is started again has its old ranges.

use std::collections::BTreeMap;

use super::{Assignments, GroupSpec, MemberSpec};
use crate::base::{MemberId, TopicId};

pub(super) fn assign(group: &GroupSpec) -> Assignments {
    let mut members: Vec<(&MemberId, &MemberSpec)> = group.members.iter().collect();
    members.sort_by_key(|(id, it)| {
        (it.group_instance_id.is_none(), it.group_instance_id.clone(), *id)
    });
    let mut ranges = ranges(group);
    let mut assignments = Assignments::new();
    for (id, member) in members {
        let assigned = &mut assignments.entry(id.clone()).or_default().0;
        for (topic, _) in group.topics_of(member) {
            let range = ranges.get_mut(&topic).map(Ranges::next).unwrap_or_default();
            if !range.is_empty() {
                assigned.insert(topic, range.collect());
            }
        }
    }
    assignments
}

/// A topic's partitions as they are given out.
struct Ranges {
    partitions: i32,
    subscribers: i32,
    given: i32,
    served: i32,
}

fn ranges(group: &GroupSpec) -> BTreeMap<TopicId, Ranges> {
    let mut ranges = BTreeMap::new();
    for (topic, partitions) in group.members.values().flat_map(|it| group.topics_of(it)) {
        let none = Ranges { partitions, subscribers: 0, given: 0, served: 0 };
        ranges.entry(topic).or_insert(none).subscribers += 1;
    }
    ranges
}

impl Ranges {
    /// The next subscriber's. There is one: they have been counted.
    fn next(&mut self) -> std::ops::Range<i32> {
        let larger = self.served < self.partitions % self.subscribers;
        let start = self.given;
        self.given += self.partitions / self.subscribers + i32::from(larger);
        self.served += 1;
        start..self.given
    }
}
