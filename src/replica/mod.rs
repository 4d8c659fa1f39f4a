//! A partition's role on this node: leader of its log, its high watermark, and who waits for it.
//!
//! On one node the ISR is this node alone; the seams (ISR, epochs, purgatory) are those of many.

mod error;
mod fetch;
mod manager;
mod partition;

pub use error::ReplicaError;
pub use fetch::{FetchParams, FetchPartition, FetchedPartition, Isolation};
pub use manager::ReplicaManager;
pub use partition::{Acks, Partition};
