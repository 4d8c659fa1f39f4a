//! Bytes ⇄ messages; no I/O. The messages themselves are the `kafka-protocol` crate's.
//!
//! Rule: no length that a stranger sent is believed. `guard` bounds what a decode may allocate before it
//! runs, and record batches are walked and decompressed by bounded code of our own.

mod error;
pub mod fetch_response;
pub mod frame;
pub mod guard;
pub mod header;
mod reader;
pub mod record_batch;

pub use error::DecodeError;
