//! The assignor `roundrobin`: all partitions of all topics dealt out one by one, as Kafka's own
//! `RoundRobinAssignor`.
//!
//! A member that does not subscribe to a topic is passed over. With equal subscriptions no member gets
//! two partitions more than another; with different ones that can fail (`sticky` does better there).

use klamm_plugin::assignor::{Assignment, Assignor, Group};
use klamm_plugin::{Description, no_settings};

pub struct RoundRobin;

impl Assignor for RoundRobin {
    fn describe() -> Description {
        let summary = "Deals out all partitions of all topics one by one.";
        Description::new("roundrobin", env!("CARGO_PKG_VERSION"), summary)
    }

    fn configure(settings: &str) -> Result<Self, String> {
        no_settings(settings)?;
        Ok(Self)
    }

    fn assign(&mut self, group: &Group) -> Result<Vec<Assignment>, String> {
        let members = group.members_in_order();
        let mut assignments: Vec<_> =
            members.iter().map(|member| Assignment::new(member)).collect();
        let mut next = 0;
        for (topic, subscribers) in group.topics.iter().zip(group.subscribers(&members)) {
            for partition in &topic.partitions {
                let Some(place) = first_at_or_after(&subscribers, next) else { break };
                if let Some(assignment) = assignments.get_mut(place) {
                    assignment.push(&topic.name, partition.index);
                }
                next = place + 1;
            }
        }
        Ok(assignments)
    }
}

/// Goes round: after the last comes the first.
fn first_at_or_after(places: &[usize], next: usize) -> Option<usize> {
    let found = places.partition_point(|place| *place < next);
    places.get(found).or(places.first()).copied()
}

klamm_plugin::assignor!(RoundRobin);

#[cfg(test)]
mod tests;
