//! Plugins: the only room that knows of WebAssembly. It offers hooks in the broker's words and calls nobody.
//!
//! Three lifetimes, three names: an engine (the process), `Compiled` (a loaded version, shared), `Guest` (an
//! instance on one of this room's own threads, reused, dropped after any error).

pub mod hook;
mod host;
mod status;

pub use hook::{Assignor, Partitioner, Transform};
pub use host::{Embedded, PluginError, PluginHost};
pub use status::{HookKind, PluginSource, PluginState, PluginStatus};
