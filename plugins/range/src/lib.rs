//! The assignor `range`: for each topic a run of neighbouring partitions for each subscriber, as Kafka's
//! own `RangeAssignor` without racks.
//!
//! Topics with as many partitions and the same subscribers are cut at the same places, so that one
//! member reads partition 7 of all of them.

use klamm_plugin::assignor::{Assignment, Assignor, Group, Topic};
use klamm_plugin::{Description, no_settings};

pub struct Range;

impl Assignor for Range {
    fn describe() -> Description {
        let summary = "Gives each subscriber a run of neighbouring partitions of each topic.";
        Description::new("range", env!("CARGO_PKG_VERSION"), summary)
    }

    fn configure(settings: &str) -> Result<Self, String> {
        no_settings(settings)?;
        Ok(Self)
    }

    fn assign(&mut self, group: &Group) -> Result<Vec<Assignment>, String> {
        let members = group.members_in_order();
        let mut assignments: Vec<_> =
            members.iter().map(|member| Assignment::new(member)).collect();
        for topic in &group.topics {
            let subscribers = members.iter().zip(&mut assignments);
            let subscribers = subscribers.filter(|(member, _)| member.subscribes_to(&topic.name));
            cut(topic, subscribers.map(|(_, assignment)| assignment).collect());
        }
        Ok(assignments)
    }
}

/// All runs are of one length, the first few of one more.
fn cut(topic: &Topic, subscribers: Vec<&mut Assignment>) {
    let count = subscribers.len().max(1);
    let (length, longer) = (topic.partitions.len() / count, topic.partitions.len() % count);
    let mut partitions = topic.partitions.iter();
    for (place, assignment) in subscribers.into_iter().enumerate() {
        let length = length + usize::from(place < longer);
        for partition in partitions.by_ref().take(length) {
            assignment.push(&topic.name, partition.index);
        }
    }
}

klamm_plugin::assignor!(Range);

#[cfg(test)]
mod tests;
