//! Plugins: the only room that knows of WebAssembly. It offers hooks in the broker's words and calls nobody.
//!
//! Three lifetimes, three names: an engine (the process), `Loaded` (a version of a plugin, shared), `Guest` (an
//! instance on one of this room's own threads, reused, dropped after any error). `README.md` here tells the rest.

mod bindings;
mod cache;
mod check;
mod compile;
mod convert;
mod directory;
mod embedded;
mod engine;
mod error;
mod face;
mod failure;
mod fair_queue;
mod guest;
mod guest_log;
mod guest_state;
mod guests;
pub mod hook;
mod host;
mod limits;
mod load;
mod log_import;
mod manifest;
mod memory;
mod metrics;
mod quarantine;
mod registry;
mod sha256;
mod shipped;
mod slot;
mod smoke;
mod state_cache;
mod status;
#[cfg(test)]
mod tests;
mod uses;
mod versions;
mod watch;

pub use check::{CheckReport, ProbeReport, check};
pub use embedded::Embedded;
pub use error::PluginError;
pub use face::{Assignor, Partitioner, Transform};
pub use host::{Folders, PluginHost};
pub use shipped::SHIPPED;
pub use status::{HookKind, PluginSource, PluginState, PluginStatus};
pub use uses::PluginUses;
