//! One partition's log on disk, in Kafka's own segment format (`docs/storage-format.md`). The only room that touches
//! data files.
//!
//! Rule: what is acknowledged is found again; a torn tail is cut at the first batch that fails its CRC. Nothing that a
//! file says is believed unchecked, and nothing in one makes this room panic.

mod adopt;
mod background;
mod checkpoint;
mod cleaner;
mod cursor;
mod dir;
mod dir_futures;
mod dir_owner;
mod error;
mod file;
mod file_name;
mod flush;
mod future;
mod health;
mod home;
mod index_file;
mod leader_epochs;
mod left_overs;
#[expect(clippy::module_inception, reason = "the room is named after its main noun")]
mod log;
mod log_start;
mod maintenance;
mod marks;
mod meta_properties;
mod moving;
mod offset_checkpoint;
mod offset_index;
mod open_files;
mod partition_metadata;
mod producer_recovery;
mod producer_snapshot;
mod producer_state;
mod read;
mod recovery;
mod retention;
mod roll;
mod routes;
mod salvage;
mod segment;
mod segment_files;
mod settings;
mod slice;
mod space;
mod span;
mod stamp;
mod throttle;
mod time_index;

#[cfg(test)]
mod faulty;
#[cfg(test)]
mod power_cut;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use self::faulty::{Fault, Faults, FaultyDisk};
pub use background::Background;
pub use cleaner::{Cleanable, Cleaned, Cleaner};
pub use dir::LogDir;
pub use dir_futures::LeftFuture;
pub use dir_owner::DirOwner;
pub use error::LogError;
pub use future::{CopyProgress, FutureLog};
pub use health::Health;
pub use log::{AppendContext, Appended, Log};
pub use moving::{LeftFolder, Moved, Pause};
pub use open_files::OpenFiles;
pub use producer_state::{ActiveProducer, ProducerCheck, StoredBatch, UnfinishedRoute, is_derived};
pub use read::{Fetched, TimestampAndOffset};
pub use recovery::Recovery;
pub use settings::LogSettings;
pub use slice::LogSlice;
pub use space::Space;
pub use span::NotAtHand;
