//! The transform hook: filters, changes and watches records on their way into a topic.

mod batch;
mod output;

pub use batch::{Batch, Columns, Record};
pub use output::{Alert, FlatOutput, Output, OwnedHeader, Replacement, Severity};

use crate::Description;

/// Filters, changes and watches records.
pub trait Transform {
    /// Must not depend on settings.
    fn describe() -> Description
    where
        Self: Sized;

    /// Makes an instance. `settings` is the table `[config]` of the plugin's TOML file as JSON text,
    /// `{}` without one; an error refuses the load, with its text shown to the operator.
    fn configure(settings: &str) -> Result<Self, String>
    where
        Self: Sized;

    /// An instance serves many topics and partitions, and is replaced at any time: what must outlive a
    /// call belongs to [`Output::set_state`], which the broker keeps for each partition.
    fn process(&mut self, batch: &Batch<'_>) -> Result<Output, String>;
}
