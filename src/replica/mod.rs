//! A partition's role on this node: leader of its log, its high watermark, and who waits for it.
//!
//! Rule: nobody reads what is not committed, and no lock is held while anything waits. On one node the ISR is this node
//! alone; the seams (ISR, epochs, purgatory) are those of many.

mod byte_rate;
mod cleaning;
mod delete_records;
mod describe_dirs;
mod dirs;
mod error;
mod fetch;
mod group_commit;
mod held_open;
mod hosted;
mod in_parallel;
mod isr;
mod left_moves;
mod manager;
mod metrics;
mod moves;
mod moving;
mod off_workers;
mod opening;
mod partition;
mod purgatory;

#[cfg(test)]
mod tests;

pub use delete_records::DeleteUpTo;
pub use describe_dirs::{DescribedDir, DescribedLog};
pub use error::ReplicaError;
pub use fetch::{FetchParams, FetchPartition, FetchedData, FetchedPartition, Isolation};
pub use held_open::Records;
pub use manager::ReplicaManager;
pub use off_workers::off_workers;
pub use partition::{Acks, Partition};
