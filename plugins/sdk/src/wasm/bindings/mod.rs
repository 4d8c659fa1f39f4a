//! The worlds as Rust types, one file a world, each written by `cargo xtask bindings`.

#![expect(unreachable_pub, reason = "generated")]

pub mod assignor;
pub mod partitioner;
pub mod transform;
