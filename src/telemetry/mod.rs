//! Metrics and tracing set-up. Rooms register what they count; `/metrics` encodes it.

mod clock;

use parking_lot::Mutex;
use prometheus_client::{encoding::text, registry::Registry};

pub use clock::now;

/// The process's metrics registry.
#[derive(Default)]
pub struct Metrics {
    registry: Mutex<Registry>,
}

impl Metrics {
    /// Lets a room register its metrics, at start.
    pub fn register<T>(&self, register: impl FnOnce(&mut Registry) -> T) -> T {
        register(&mut self.registry.lock())
    }

    /// All metrics in the text format.
    pub fn encode(&self) -> String {
        let mut out = String::new();
        // Writing to a string fails only if a metric's own encoding does, which is a bug of ours.
        text::encode(&mut out, &self.registry.lock()).expect("metrics encode to a string");
        out
    }
}
