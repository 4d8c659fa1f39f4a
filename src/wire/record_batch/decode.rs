//! A batch decoded once, for hooks: its record bytes decompressed, and where each field lies in them.

use std::ops::Range;

use bytes::Bytes;

use super::{
    Batch, BatchError, BatchHeader, Compression, HEADER_BYTES, build::NO_TIMESTAMP, decompress,
};
use crate::{base::TimestampMs, wire::reader::Reader};

/// A record of seven fields of one byte each: length, attributes, two deltas, null key, null value, no headers.
const RECORD_BYTES_MIN: usize = 7;

/// Where a record's fields lie in [`DecodedBatch::data`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordSpan {
    pub(crate) offset_delta: i32,
    pub(crate) timestamp_delta: i64,
    /// `None` for null; offsets in bytes.
    pub(crate) key: Option<Range<u32>>,
    pub(crate) value: Option<Range<u32>>,
    /// The bytes of all headers, with their count's varint left out.
    pub(crate) headers: Range<u32>,
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
    ///
    /// Offsets may have gaps, as in a filtered or compacted batch, but rise and stay within the last offset delta.
    pub fn decode(&self, max_bytes: usize) -> Result<DecodedBatch, BatchError> {
        let data = self.decompress(max_bytes)?;
        let count = usize::try_from(self.header.records_count)
            .map_err(|_| BatchError::BadHeader("the record count is negative"))?;
        // The count is the sender's word: no more room than the bytes can hold records.
        let mut records = Vec::with_capacity(count.min(data.len() / RECORD_BYTES_MIN));
        walk(&self.header, &data, |_, span| {
            records.push(span);
            Ok(())
        })?;
        Ok(DecodedBatch { header: self.header.clone(), data, records })
    }

    /// Offset and timestamp delta of the first record that is wanted. Holds the decompressed batch (at most `max_bytes`),
    /// and nothing for each record.
    pub fn find_record(
        &self,
        max_bytes: usize,
        mut is_wanted: impl FnMut(i32, i64) -> bool,
    ) -> Result<Option<(i32, i64)>, BatchError> {
        let mut found = None;
        walk(&self.header, &self.decompress(max_bytes)?, |_, span| {
            if found.is_none() && is_wanted(span.offset_delta, span.timestamp_delta) {
                found = Some((span.offset_delta, span.timestamp_delta));
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The records section, decompressed to at most `max_bytes`.
    pub(super) fn decompress(&self, max_bytes: usize) -> Result<Bytes, BatchError> {
        let section = self.bytes.slice(HEADER_BYTES.min(self.bytes.len())..);
        // Spans are 32 bits wide.
        let max_bytes = max_bytes.min(u32::MAX as usize);
        match self.header.attributes.compression()? {
            Compression::None if section.len() <= max_bytes => Ok(section),
            codec => Ok(decompress(codec, &section, max_bytes)?.into()),
        }
    }
}

/// Checks the records of a producer's batch, decompressed: each delta follows the one before. Returns the largest
/// timestamp.
pub(super) fn check_contiguous(
    header: &BatchHeader,
    data: &[u8],
) -> Result<TimestampMs, BatchError> {
    let mut largest = NO_TIMESTAMP;
    walk(header, data, |index, span| {
        largest = largest.max(TimestampMs(header.base_timestamp.0 + span.timestamp_delta));
        if span.offset_delta == index { Ok(()) } else { Err("the offset delta is not the index") }
    })?;
    Ok(largest)
}

/// Finds each record of `data` and hands it on with its index. It is compiled anew for each visitor, all of it: the check of a
/// producer's batch needs two numbers of a record and makes none of its spans.
pub(super) fn walk(
    header: &BatchHeader,
    data: &[u8],
    mut visit: impl FnMut(i32, RecordSpan) -> Result<(), &'static str>,
) -> Result<(), BatchError> {
    let mut reader = Reader::new(data);
    let mut previous_delta = -1;
    for index in 0..header.records_count {
        read_record(&mut reader)
            .and_then(|span| {
                check_deltas(header, previous_delta, &span)?;
                previous_delta = span.offset_delta;
                visit(index, span)
            })
            .map_err(|reason| BatchError::BadRecord { index, reason })?;
    }
    match reader.remaining() {
        0 => Ok(()),
        _ => Err(BatchError::BadHeader("bytes are left after the last record")),
    }
}

#[inline]
fn check_deltas(
    header: &BatchHeader,
    previous: i32,
    span: &RecordSpan,
) -> Result<(), &'static str> {
    if span.offset_delta <= previous {
        return Err("the offset delta does not rise");
    }
    if span.offset_delta > header.last_offset_delta {
        return Err("the offset delta is above the batch's last");
    }
    match header.base_timestamp.0.checked_add(span.timestamp_delta) {
        Some(_) => Ok(()),
        None => Err("the timestamp overflows"),
    }
}

#[inline]
fn read_record(reader: &mut Reader<'_>) -> Result<RecordSpan, &'static str> {
    let length = reader.varint().ok_or("the length is cut off")?;
    let length = usize::try_from(length).map_err(|_| "the length is negative")?;
    if length > reader.remaining() {
        return Err("the record is longer than the batch");
    }
    let end = reader.position() + length;
    let span = read_fields(reader).ok_or("a field is cut off or its length is negative")?;
    if reader.position() == end { Ok(span) } else { Err("the length and the fields disagree") }
}

/// `None` where a field ends early or has an impossible length.
#[inline]
fn read_fields(reader: &mut Reader<'_>) -> Option<RecordSpan> {
    let _attributes = reader.u8()?;
    let timestamp_delta = reader.varlong()?;
    let offset_delta = reader.varint()?;
    let key = read_nullable(reader)?;
    let value = read_nullable(reader)?;
    let headers_count = u32::try_from(reader.varint()?).ok()?;
    let headers_start = reader.position() as u32;
    for _ in 0..headers_count {
        let _name = read_nullable(reader)??;
        read_nullable(reader)?;
    }
    let headers = headers_start..reader.position() as u32;
    Some(RecordSpan { offset_delta, timestamp_delta, key, value, headers, headers_count })
}

/// Where a length-prefixed field lies; the inner `None` is null (length −1).
#[expect(
    clippy::option_option,
    reason = "the outer one is what `?` passes on, the inner one is a value"
)]
#[inline]
fn read_nullable(reader: &mut Reader<'_>) -> Option<Option<Range<u32>>> {
    let length = reader.varint()?;
    if length == -1 {
        return Some(None);
    }
    let length = u32::try_from(length).ok()?;
    let start = reader.position() as u32;
    reader.take(length as usize)?;
    Some(Some(start..start + length))
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
        self.span.key.as_ref().map(|range| self.bytes(range))
    }

    pub fn value(&self) -> Option<&'a [u8]> {
        self.span.value.as_ref().map(|range| self.bytes(range))
    }

    /// The headers in order.
    pub fn headers(&self) -> impl Iterator<Item = Header<'a>> + use<'a> {
        headers(self.bytes(&self.span.headers), self.span.headers_count)
    }

    fn bytes(&self, range: &Range<u32>) -> &'a [u8] {
        self.batch.data.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// Offsets of the fields in [`DecodedBatch::data`]: (offset, length) of key and value; `None` is null.
    pub fn key_range(&self) -> Option<Range<u32>> {
        self.span.key.clone()
    }

    pub fn value_range(&self) -> Option<Range<u32>> {
        self.span.value.clone()
    }
}

/// The headers in bytes that a walk has read once: nothing in them can be cut off.
pub(super) fn headers(bytes: &[u8], count: u32) -> impl Iterator<Item = Header<'_>> {
    let mut reader = Reader::new(bytes);
    (0..count).map_while(move |_| {
        Some(Header { name: take_nullable(&mut reader)??, value: take_nullable(&mut reader)? })
    })
}

/// The bytes of a length-prefixed field; the inner `None` is null.
#[expect(
    clippy::option_option,
    reason = "the outer one is what `?` passes on, the inner one is a value"
)]
fn take_nullable<'a>(reader: &mut Reader<'a>) -> Option<Option<&'a [u8]>> {
    match reader.varint()? {
        -1 => Some(None),
        length => Some(Some(reader.take(usize::try_from(length).ok()?)?)),
    }
}
