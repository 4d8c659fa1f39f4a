//! What the three hooks are asked and what they answer, in the broker's words.

mod assignor;
mod partitioner;
mod transform;

pub use assignor::{
    AssignFailure, Assignments, GroupSnapshot, MemberSnapshot, PartitionSnapshot, TopicSnapshot,
};
pub use partitioner::{PartitionerInput, PartitionerVerdict};
pub use transform::{
    RaisedAlert, RecordAction, Replacement, ReplacementHeader, TransformInput, TransformOutput,
    TransformVerdict,
};
