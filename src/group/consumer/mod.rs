//! The consumer protocol (KIP-848): members tell what they want in heartbeats, the coordinator assigns.
//!
//! A group is what its records say: the group's epoch, its members, the target assignment and the
//! current one of each member. Each heartbeat moves one member a step from what it has towards its target.

mod ask;
pub mod assignor;
mod partitions;
mod requests;
mod shard;

pub use ask::{Assignors, ConsumerAnswer, ConsumerAsk};
pub use partitions::TopicPartitions;
pub use requests::{
    ConsumerGroupState, ConsumerHeartbeat, ConsumerHeartbeatRequest, DescribedConsumerGroup,
    DescribedConsumerMember, TopicFilter,
};
