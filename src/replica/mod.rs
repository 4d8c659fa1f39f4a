//! A partition's role on this node: leader of its log, its high watermark, and who waits for it.
//!
//! Rule: nobody reads what is not committed, and no lock is held while anything waits. On one node the ISR is this node
//! alone; the seams (ISR, epochs, purgatory) are those of many.

mod byte_rate;
mod delete_records;
mod describe_dirs;
mod dirs;
mod error;
mod fetch;
mod group_commit;
mod hosted;
mod in_parallel;
mod isr;
mod manager;
mod metrics;
mod opening;
mod partition;
mod purgatory;
mod read_budget;

#[cfg(test)]
mod tests;

pub use delete_records::DeleteUpTo;
pub use describe_dirs::DescribedDir;
pub use error::ReplicaError;
pub use fetch::{FetchParams, FetchPartition, FetchedData, FetchedPartition, Isolation};
pub use manager::ReplicaManager;
pub use partition::{Acks, Partition};
pub use read_budget::ReadShare;
