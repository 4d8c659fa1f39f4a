//! The consumer protocol (KIP-848): members tell what they want in heartbeats, the coordinator assigns.
//!
//! A [`ConsumerGroup`] is what its records say: its epoch, its members, the target of each, and what each has now. It changes
//! in `replay` alone. A heartbeat is decided on a draft of what its records will make of the group:
//!
//! ```text
//!  admission       who is it, and may it
//!  heartbeat       what it tells is stored
//!  topics          what the members read, by name or regular expression; a change of it begins an epoch
//!  targets         an epoch gets targets: from an assignor that is built in, or later from a plugin
//!  reconcile       the member moves one step from what it has towards its target
//! ```
//!
//! What a restart may forget (sessions, an open question to a plugin) is in `soft`. Rule: a partition that anybody holds, or
//! has not said that it gave up, is nobody else's.

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
