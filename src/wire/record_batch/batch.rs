//! One batch as received, and the walk that finds the batches of a request or a file.

use bytes::Bytes;

use super::BatchHeader;

/// Why bytes are no record batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    #[error("a batch needs {needed} bytes, {available} are left")]
    Truncated { needed: usize, available: usize },
    #[error("message format {0} is not supported, only 2")]
    UnsupportedMagic(i8),
    #[error("batch length {0} is too small")]
    BadLength(i32),
    #[error("the CRC of the batch does not match")]
    CrcMismatch,
    #[error("compression type {0} is unknown")]
    UnknownCompression(i16),
    #[error("decompress the batch")]
    Compression(#[from] super::CompressionError),
    /// The records do not add up: a length, a count, a delta.
    #[error("record {index}: {reason}")]
    BadRecord { index: i32, reason: &'static str },
    #[error("{0}")]
    BadHeader(&'static str),
}

/// A whole batch: its decoded header, and its bytes as received (the 61 bytes of the header included).
#[derive(Clone, Debug)]
pub struct Batch {
    pub header: BatchHeader,
    pub bytes: Bytes,
}

impl Batch {
    /// Checks what a leader checks of a batch before storing it: CRC, counts and deltas of the header,
    /// and for an uncompressed batch a walk over its records (never for a compressed one).
    pub fn validate(&self) -> Result<(), BatchError> {
        todo!()
    }

    /// Only the CRC-32C, as recovery does.
    pub fn check_crc(&self) -> Result<(), BatchError> {
        todo!()
    }
}

/// Splits `bytes` into whole batches; copies nothing.
///
/// # Errors
///
/// What [`BatchHeader::parse`] finds; [`BatchError::Truncated`] for an incomplete last batch.
pub fn split(bytes: Bytes) -> Result<Vec<Batch>, BatchError> {
    let _ = bytes;
    todo!()
}
