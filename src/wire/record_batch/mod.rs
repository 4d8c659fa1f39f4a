//! Record batches of format 2 (KIP-98): the unit that producers send, logs store and consumers fetch.
//!
//! A [`Batch`] keeps the bytes as received; nothing is decoded that need not be.

mod batch;
mod build;
mod compact;
mod compression;
mod control;
mod decode;
mod header;
mod varint;
mod xerial;

pub use batch::{Batch, BatchError, split};
pub use build::{BatchBuilder, NO_TIMESTAMP, RecordParts};
pub use compact::{Compacted, RecordRef, Records};
pub use compression::{Codec, Compression, CompressionError, compress, decompress};
pub use control::{ControlRecord, ControlType, control_batch, own_control_batch, placeholder};
pub(crate) use decode::RecordSpan;
pub use decode::{DecodedBatch, Header, RecordView};
pub use header::{Attributes, BatchHeader, HEADER_BYTES, TimestampType};

#[cfg(test)]
mod tests;
