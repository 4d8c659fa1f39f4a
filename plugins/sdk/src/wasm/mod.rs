//! Between the generated bindings and the SDK's traits: exists on `wasm32` alone.
//!
//! One instance of a plugin lives for as long as its component's instance; the broker calls
//! `configure` first, one call at a time.

mod assignor;
pub mod bindings;
mod partitioner;
mod transform;

pub use assignor::AssignorGuest;
pub use partitioner::PartitionerGuest;
pub use transform::TransformGuest;

use crate::log::Level;
use bindings::partitioner::klamm::plugin::log as import;

const NOT_CONFIGURED: &str = "called before `configure` succeeded";

pub(crate) fn write_log(level: Level, text: &str) {
    let level = match level {
        Level::Debug => import::Level::Debug,
        Level::Info => import::Level::Info,
        Level::Warn => import::Level::Warn,
        Level::Error => import::Level::Error,
    };
    import::write(level, text);
}

/// A panic ends the instance in a trap that says nothing: this puts its message into the broker's log.
fn report_panics() {
    std::panic::set_hook(Box::new(|panic| write_log(Level::Error, &panic.to_string())));
}

/// The interface `plugin` has types of its own in each world.
macro_rules! describe {
    ($bindings:ident, $description:expr) => {{
        use $crate::wasm::bindings::$bindings::klamm::plugin::types;
        let $crate::Description { name, version, summary, needs, key_pure, settings } =
            $description;
        let columns = [
            ($crate::Needs::KEYS, types::Needs::KEYS),
            ($crate::Needs::VALUES, types::Needs::VALUES),
            ($crate::Needs::HEADERS, types::Needs::HEADERS),
            ($crate::Needs::TIMESTAMPS, types::Needs::TIMESTAMPS),
        ];
        let asked = columns.into_iter().filter(|(own, _)| needs.contains(*own));
        let needs = asked.fold(types::Needs::empty(), |all, (_, column)| all | column);
        types::Description { name, version, summary, needs, key_pure, settings }
    }};
}
use describe;
