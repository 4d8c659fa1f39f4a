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
mod engine;
mod error;
mod failure;
mod fair_queue;
mod guest;
mod guests;
pub mod hook;
mod host;
mod limits;
mod load;
mod log_import;
mod manifest;
mod metrics;
mod quarantine;
mod registry;
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
pub use error::PluginError;
pub use hook::{Assignor, Partitioner, Transform};
pub use host::{Embedded, Folders, PluginHost};
pub use shipped::SHIPPED;
pub use status::{HookKind, PluginSource, PluginState, PluginStatus};
pub use uses::PluginUses;
