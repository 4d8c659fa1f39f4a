//! The assignor `range`: for each topic a run of neighbouring partitions for each subscriber, as Kafka's
//! own `RangeAssignor`, with racks (KIP-881).
//!
//! Topics with as many partitions and the same subscribers are cut at the same places, so that one
//! member reads partition 7 of all of them.

mod racks;
mod share;

use klamm_plugin::assignor::{Assignment, Assignor, Group};
use klamm_plugin::{Description, no_settings};
use racks::Racks;
use share::Share;

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
        let topics = group.topics.iter().zip(group.subscribers(&members)).enumerate();
        let mut shares: Vec<Share<'_>> =
            topics.map(|(at, (topic, subscribers))| Share::new(at, topic, subscribers)).collect();
        if members.iter().any(|member| member.rack.is_some()) {
            Racks::new(group, &members).give_matching(&mut shares);
        }
        let mut assignments: Vec<_> =
            members.iter().map(|member| Assignment::new(member)).collect();
        for mut share in shares {
            share.give_ranges(|_, _| true);
            share.write(&mut assignments);
        }
        Ok(assignments)
    }
}

klamm_plugin::assignor!(Range);

#[cfg(test)]
mod tests;
