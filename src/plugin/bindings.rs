//! What `wit/` becomes in Rust: generated, and private to this room.
//!
//! The worlds share the types of `klamm:plugin/types` and `klamm:plugin/log`. A call of a generated function
//! checks no types: that happened once, when the component was linked.

/// The world `partitioner-plugin`.
pub(super) mod partitioner {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "partitioner-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

/// The world `assignor-plugin`.
pub(super) mod assignor {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "assignor-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        with: {
            "klamm:plugin/types": super::partitioner::klamm::plugin::types,
            "klamm:plugin/log": super::partitioner::klamm::plugin::log,
        },
    });
}

/// The world `transform-plugin`.
pub(super) mod transform {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "transform-plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
        with: {
            "klamm:plugin/types": super::partitioner::klamm::plugin::types,
            "klamm:plugin/log": super::partitioner::klamm::plugin::log,
        },
    });
}

pub(super) use partitioner::klamm::plugin::{
    log::Level,
    types::{Description, Needs},
};

/// The only interface that a plugin may import functions from.
pub(super) const LOG_INTERFACE: &str = "klamm:plugin/log@1.0.0";
