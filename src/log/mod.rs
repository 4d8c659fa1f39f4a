//! One partition's log on disk, in Kafka's own segment format. The only room that touches data files.
//!
//! Rule: what is acknowledged is found again; a torn tail is cut at the first batch that fails its CRC.

mod error;
mod log;
mod producer_state;
mod settings;

pub use error::LogError;
pub use log::{AppendContext, Appended, Fetched, Log, TimestampAndOffset};
pub use producer_state::{ProducerCheck, StoredBatch, StoredRoute, is_derived};
pub use settings::LogSettings;
