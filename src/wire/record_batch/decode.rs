//! A batch decoded once, for hooks: its record bytes decompressed, and where each field lies in them.

use bytes::Bytes;

use super::{Batch, BatchError, BatchHeader};

/// Where a record's fields lie in [`DecodedBatch::data`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordSpan {
    pub(crate) offset_delta: i32,
    pub(crate) timestamp_delta: i64,
    /// `None` for null; offsets in bytes.
    pub(crate) key: Option<std::ops::Range<u32>>,
    pub(crate) value: Option<std::ops::Range<u32>>,
    /// The bytes of all headers, with their count's varint left out.
    pub(crate) headers: std::ops::Range<u32>,
    pub(crate) headers_count: u32,
}

/// A batch whose records have been found. Each field has been checked to lie inside `data`.
#[derive(Clone, Debug)]
pub struct DecodedBatch {
    pub header: BatchHeader,
    /// The records section, decompressed.
    pub data: Bytes,
    pub(crate) records: Vec<RecordSpan>,
}

/// A header of a record; the value may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// UTF-8 by the protocol; not checked here.
    pub name: &'a [u8],
    pub value: Option<&'a [u8]>,
}

/// One record, borrowed from its batch.
#[derive(Clone, Copy, Debug)]
pub struct RecordView<'a> {
    pub(crate) batch: &'a DecodedBatch,
    pub(crate) span: &'a RecordSpan,
}

impl Batch {
    /// Decompresses (to at most `max_bytes`) and walks the records, checking every length.
    pub fn decode(&self, max_bytes: usize) -> Result<DecodedBatch, BatchError> {
        let _ = max_bytes;
        todo!()
    }
}

impl DecodedBatch {
    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub fn record(&self, index: usize) -> Option<RecordView<'_>> {
        self.records.get(index).map(|span| RecordView { batch: self, span })
    }

    pub fn records(&self) -> impl ExactSizeIterator<Item = RecordView<'_>> {
        self.records.iter().map(|span| RecordView { batch: self, span })
    }
}

impl<'a> RecordView<'a> {
    pub fn offset_delta(&self) -> i32 {
        self.span.offset_delta
    }

    pub fn timestamp_delta(&self) -> i64 {
        self.span.timestamp_delta
    }

    pub fn key(&self) -> Option<&'a [u8]> {
        todo!()
    }

    pub fn value(&self) -> Option<&'a [u8]> {
        todo!()
    }

    /// The headers in order.
    pub fn headers(&self) -> impl Iterator<Item = Header<'a>> + use<'a> {
        std::iter::empty()
    }

    /// Offsets of the fields in [`DecodedBatch::data`]: (offset, length) of key and value; `None` is null.
    pub fn key_range(&self) -> Option<std::ops::Range<u32>> {
        self.span.key.clone()
    }

    pub fn value_range(&self) -> Option<std::ops::Range<u32>> {
        self.span.value.clone()
    }
}
