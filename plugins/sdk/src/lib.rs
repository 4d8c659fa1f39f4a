//! The guest SDK of Klamm: plugins as plain functions over borrowed records.
//!
//! The broker calls a plugin once for each batch, with the records in flat columns, because that is
//! five to twenty times cheaper than a list of records. This crate turns the columns into records that
//! borrow from them, checks them on the way, and turns the answer back.
//!
//! ```
//! use klamm_plugin::partitioner::{Batch, Partitioner};
//! use klamm_plugin::{Description, Needs};
//!
//! /// Places records by the length of their key.
//! struct KeyLength;
//!
//! impl Partitioner for KeyLength {
//!     fn describe() -> Description {
//!         Description::new("key-length", "1.0.0", "Places records by the length of their key.")
//!             .needs(Needs::KEYS)
//!             .key_pure()
//!     }
//!
//!     fn configure(settings: &str) -> Result<Self, String> {
//!         klamm_plugin::no_settings(settings)?;
//!         Ok(Self)
//!     }
//!
//!     fn partition(&mut self, batch: &Batch<'_>) -> Result<Vec<u32>, String> {
//!         let place = |key: Option<&[u8]>| key.map_or(0, <[u8]>::len) as u32 % batch.partitions();
//!         Ok(batch.keys().map(place).collect())
//!     }
//! }
//!
//! klamm_plugin::partitioner!(KeyLength);
//! ```
//!
//! Everything but [`log`] behaves on the host as in the broker, so that a plugin is tested by `cargo
//! test` without any WebAssembly: build a [`partitioner::Batch`], [`transform::Batch`] or
//! [`assignor::Group`] and call the trait.
//!
//! A rule holds throughout: no bytes of a broker make the SDK panic. What it cannot read it reports as
//! an error, which the broker answers with the plugin's `on-failure`.

extern crate self as klamm_plugin;

pub mod assignor;
mod column;
mod description;
mod header;
pub mod log;
pub mod partitioner;
pub mod transform;
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub mod wasm;

pub use description::{Description, Needs, no_settings};
pub use header::Header;
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub use wit_bindgen;

/// Makes a type that implements [`partitioner::Partitioner`] the plugin that this crate is.
#[macro_export]
macro_rules! partitioner {
    ($plugin:ty) => {
        #[cfg(target_arch = "wasm32")]
        type KlammPlugin = $crate::wasm::PartitionerGuest<$plugin>;
        #[cfg(target_arch = "wasm32")]
        $crate::wasm::bindings::partitioner::export_partitioner!(KlammPlugin);
    };
}

/// Makes a type that implements [`assignor::Assignor`] the plugin that this crate is.
#[macro_export]
macro_rules! assignor {
    ($plugin:ty) => {
        #[cfg(target_arch = "wasm32")]
        type KlammPlugin = $crate::wasm::AssignorGuest<$plugin>;
        #[cfg(target_arch = "wasm32")]
        $crate::wasm::bindings::assignor::export_assignor!(KlammPlugin);
    };
}

/// Makes a type that implements [`transform::Transform`] the plugin that this crate is.
#[macro_export]
macro_rules! transform {
    ($plugin:ty) => {
        #[cfg(target_arch = "wasm32")]
        type KlammPlugin = $crate::wasm::TransformGuest<$plugin>;
        #[cfg(target_arch = "wasm32")]
        $crate::wasm::bindings::transform::export_transform!(KlammPlugin);
    };
}
