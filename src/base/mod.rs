//! The nouns that everyone shares. This room depends on nothing.

mod error_code;
mod ids;
pub mod kafka_uuid;
mod offset;
mod pace;

pub use error_code::ErrorCode;
pub use ids::{
    BrokerId, GroupId, MemberId, PluginName, ProducerEpoch, ProducerId, TopicId, TopicName,
    TopicPartition,
};
pub use offset::{LeaderEpoch, Offset, TimestampMs};
pub use pace::Pace;
