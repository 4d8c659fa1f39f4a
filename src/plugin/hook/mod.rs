//! The three hooks, in the broker's words. What a failure means was chosen by configuration: these faces never improvise.

mod assignor;
mod partitioner;
mod transform;

pub use assignor::{
    AssignFailure, Assignments, Assignor, GroupSnapshot, MemberSnapshot, PartitionSnapshot,
    TopicSnapshot,
};
pub use partitioner::{Partitioner, PartitionerInput, PartitionerVerdict};
pub use transform::{
    RaisedAlert, RecordAction, Replacement, Transform, TransformInput, TransformOutput,
    TransformVerdict,
};
