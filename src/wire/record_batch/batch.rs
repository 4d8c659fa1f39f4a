//! One batch as received, and the walk that finds the batches of a request or a file.

use bytes::Bytes;

use super::{BatchHeader, Compression, HEADER_BYTES, decode, header::CRC_START};

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
    /// Checks what a leader checks of a batch before storing it (Kafka's `LogValidator`): CRC, counts and deltas of the
    /// header, and for an uncompressed batch a walk over its records (never for a compressed one). What clients may not
    /// send, and what the topic's configs say, is checked elsewhere.
    pub fn validate(&self) -> Result<(), BatchError> {
        self.check_crc()?;
        self.header.check_counts()?;
        self.header.check_producer()?;
        match self.header.attributes.compression()? {
            Compression::None => {
                decode::check_contiguous(&self.header, self.records_section()).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Only the CRC-32C, as recovery does.
    pub fn check_crc(&self) -> Result<(), BatchError> {
        let available = self.bytes.len();
        let covered = self
            .bytes
            .get(CRC_START..)
            .ok_or(BatchError::Truncated { needed: HEADER_BYTES, available })?;
        if crc32c::crc32c(covered) == self.header.crc {
            Ok(())
        } else {
            Err(BatchError::CrcMismatch)
        }
    }

    /// What follows the header: the records, compressed or not.
    pub(super) fn records_section(&self) -> &[u8] {
        self.bytes.get(HEADER_BYTES..).unwrap_or_default()
    }
}

impl BatchHeader {
    /// A batch as a producer makes it counts a record for each of its offsets.
    fn check_counts(&self) -> Result<(), BatchError> {
        if self.records_count <= 0 {
            return Err(BatchError::BadHeader("the batch counts no records"));
        }
        if self.last_offset_delta != self.records_count - 1 {
            return Err(BatchError::BadHeader(
                "the last offset delta and the record count disagree",
            ));
        }
        Ok(())
    }

    fn check_producer(&self) -> Result<(), BatchError> {
        match self.producer_id {
            Some(_) if self.base_sequence < 0 => {
                Err(BatchError::BadHeader("a producer id without a sequence number"))
            }
            Some(_) if self.producer_epoch.0 < 0 => {
                Err(BatchError::BadHeader("a producer id without an epoch"))
            }
            None if self.attributes.is_transactional() => {
                Err(BatchError::BadHeader("a transactional batch without a producer id"))
            }
            _ => Ok(()),
        }
    }
}

/// Splits `bytes` into whole batches; copies nothing.
///
/// # Errors
///
/// What [`BatchHeader::parse`] finds; [`BatchError::Truncated`] for an incomplete last batch.
pub fn split(mut bytes: Bytes) -> Result<Vec<Batch>, BatchError> {
    let mut batches = Vec::new();
    while !bytes.is_empty() {
        let header = BatchHeader::parse(&bytes)?;
        let (needed, available) = (header.size_bytes(), bytes.len());
        if needed > available {
            return Err(BatchError::Truncated { needed, available });
        }
        batches.push(Batch { header, bytes: bytes.split_to(needed) });
    }
    Ok(batches)
}
