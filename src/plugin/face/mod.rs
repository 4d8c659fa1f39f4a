//! The three hooks as others call them. What a failure means was chosen by configuration: these faces never improvise.

mod assignor;
mod partitioner;
mod transform;

use std::sync::Arc;

use super::{
    failure::{CallFailure, FailureKind},
    load::Loaded,
    slot::Slot,
};

pub use assignor::Assignor;
pub use partitioner::Partitioner;
pub use transform::Transform;

/// The version that answers now.
fn running(slot: &Slot) -> Result<Arc<Loaded>, CallFailure> {
    slot.active().ok_or_else(|| {
        let failure = CallFailure::new(FailureKind::Unloaded, "no version is loaded now");
        slot.metrics.failed(failure.kind);
        failure
    })
}

/// A name keeps its world, so this is an answer that no guest can give.
fn wrong_hook() -> CallFailure {
    CallFailure::malformed("answered for another hook")
}
