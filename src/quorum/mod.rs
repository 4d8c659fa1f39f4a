//! The replicated metadata log, on the openraft crate, which nothing outside this room sees. One voter runs
//! the same code as many.
//!
//! A change is decided by `controller` against the newest image, proposed as one entry, written and fsynced by one thread,
//! applied to the image, published, and only then answered. The folder `__cluster_metadata-0` holds:
//!
//! | file              | is                                                              |
//! |-------------------|-----------------------------------------------------------------|
//! | `quorum.log`      | entries since the snapshot, in frames; after a kill its end may be torn |
//! | `quorum.snapshot` | the image as records; replaced as a whole                       |
//! | `quorum.vote`     | this voter's newest vote; replaced as a whole                   |
//! | `quorum.end`      | the log's length, from a clean stop to the next write           |
//! | `.lock`           | locked while a process uses the folder                          |

mod checksums;
mod cluster_id;
mod consensus;
mod driver;
mod files;
mod frame;
mod log_store;
mod log_writer;
mod network;
mod producer_ids;
mod state_machine;
mod stored;

pub use driver::Quorum;
pub use producer_ids::ProducerIds;

/// Why a change of metadata was not committed.
#[derive(Debug, thiserror::Error)]
pub enum QuorumError {
    /// There is no leader now, or it is another node: the caller retries or asks there.
    #[error("not the active controller")]
    NotController,
    #[error("the metadata log: {0}")]
    Storage(String),
    #[error("the quorum has stopped")]
    Stopped,
    /// Every id below 2^62 was given out: no broker can serve another producer.
    #[error("there are no producer ids left")]
    ProducerIdsExhausted,
}

#[cfg(test)]
mod tests;
