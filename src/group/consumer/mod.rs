//! The consumer protocol (KIP-848): members tell what they want in heartbeats, the coordinator assigns.
//!
//! A group is what its records say: the group's epoch, its members, the target assignment and the
//! current one of each member. Each heartbeat moves one member a step from what it has towards its target.

mod admission;
mod ask;
pub mod assignor;
mod describe;
mod group;
mod heartbeat;
mod leave;
mod member;
mod offsets;
mod partitions;
mod reconcile;
mod regex;
mod replay;
mod requests;
mod shard;
mod soft;
mod step;
mod targets;
mod timers;
mod topics;

pub use ask::{Assignors, ConsumerAnswer, ConsumerAsk};
pub use group::ConsumerGroup;
pub use partitions::TopicPartitions;
pub use requests::{
    ConsumerGroupState, ConsumerHeartbeat, ConsumerHeartbeatRequest, DescribedConsumerGroup,
    DescribedConsumerMember, TopicFilter,
};
pub(super) use soft::Soft;
pub(super) use step::Step;

#[cfg(test)]
mod tests;
