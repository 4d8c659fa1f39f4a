//! The primitive types of Kafka's messages, read with every length checked against what is there.

use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes};
use uuid::Uuid;

use super::RecordError;
use crate::base::TopicId;

/// Strings of 16-bit lengths, byte arrays of 32-bit ones (−1 is null).
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn i8(&mut self, value: i8) {
        self.0.put_i8(value);
    }

    pub(super) fn i16(&mut self, value: i16) {
        self.0.put_i16(value);
    }

    pub(super) fn i32(&mut self, value: i32) {
        self.0.put_i32(value);
    }

    pub(super) fn i64(&mut self, value: i64) {
        self.0.put_i64(value);
    }

    /// The texts come from requests, where their lengths have 15 bits as well.
    pub(super) fn string(&mut self, text: &str) {
        let length = i16::try_from(text.len()).expect("a protocol string has a length of 15 bits");
        self.0.put_i16(length);
        self.0.put_slice(text.as_bytes());
    }

    pub(super) fn nullable_string(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.string(text),
            None => self.0.put_i16(-1),
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let length = i32::try_from(bytes.len()).expect("a frame has a length of 31 bits");
        self.0.put_i32(length);
        self.0.put_slice(bytes);
    }

    pub(super) fn compact_string(&mut self, text: &str) {
        self.compact_bytes(text.as_bytes());
    }

    pub(super) fn compact_nullable_string(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.compact_string(text),
            None => self.varint(0),
        }
    }

    pub(super) fn compact_bytes(&mut self, bytes: &[u8]) {
        self.compact_count(bytes.len());
        self.0.put_slice(bytes);
    }

    /// The length of what follows, plus one: 0 would be null.
    pub(super) fn compact_count(&mut self, count: usize) {
        self.varint(count as u32 + 1);
    }

    pub(super) fn topic_id(&mut self, id: TopicId) {
        self.0.put_slice(id.0.as_bytes());
    }

    /// The end of a flexible struct with this one tagged field.
    pub(super) fn tagged_field(&mut self, tag: u32, field: &[u8]) {
        self.varint(1);
        self.varint(tag);
        self.varint(field.len() as u32);
        self.0.put_slice(field);
    }

    /// The end of a flexible struct without tagged fields.
    pub(super) fn no_tagged_fields(&mut self) {
        self.varint(0);
    }

    pub(super) fn varint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.0.put_u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.put_u8(value as u8);
    }

    pub(super) fn finish(self) -> Bytes {
        self.0.into()
    }
}

/// Reads what [`Writer`] writes, and the flexible forms of newer versions.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    /// Compact lengths and tagged fields (KIP-482).
    flexible: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest, flexible: false }
    }

    pub(super) fn set_flexible(&mut self, flexible: bool) {
        self.flexible = flexible;
    }

    pub(super) fn i8(&mut self) -> Result<i8, RecordError> {
        self.rest.try_get_i8().map_err(|_| RecordError::Truncated)
    }

    pub(super) fn i16(&mut self) -> Result<i16, RecordError> {
        self.rest.try_get_i16().map_err(|_| RecordError::Truncated)
    }

    pub(super) fn i32(&mut self) -> Result<i32, RecordError> {
        self.rest.try_get_i32().map_err(|_| RecordError::Truncated)
    }

    pub(super) fn i64(&mut self) -> Result<i64, RecordError> {
        self.rest.try_get_i64().map_err(|_| RecordError::Truncated)
    }

    pub(super) fn topic_id(&mut self) -> Result<TopicId, RecordError> {
        let bits = self.rest.try_get_u128().map_err(|_| RecordError::Truncated)?;
        Ok(TopicId(Uuid::from_u128(bits)))
    }

    pub(super) fn string(&mut self) -> Result<Arc<str>, RecordError> {
        self.nullable_string()?.ok_or(RecordError::Malformed)
    }

    pub(super) fn nullable_string(&mut self) -> Result<Option<Arc<str>>, RecordError> {
        let length = if self.flexible { self.compact_length()? } else { self.i16()?.into() };
        let Some(bytes) = self.take(length)? else { return Ok(None) };
        let text = std::str::from_utf8(bytes).map_err(|_| RecordError::Malformed)?;
        Ok(Some(text.into()))
    }

    pub(super) fn bytes(&mut self) -> Result<Bytes, RecordError> {
        let length = self.length()?;
        self.take(length)?.map(Bytes::copy_from_slice).ok_or(RecordError::Malformed)
    }

    /// The count of an array: never more than bytes are left, since each element takes at least one.
    pub(super) fn count(&mut self) -> Result<usize, RecordError> {
        let count = usize::try_from(self.length()?).map_err(|_| RecordError::Malformed)?;
        if count > self.rest.len() { Err(RecordError::Truncated) } else { Ok(count) }
    }

    /// Hands each tagged field to `field`; none in versions that are not flexible.
    pub(super) fn tagged_fields(
        &mut self,
        mut field: impl FnMut(u32, &'a [u8]),
    ) -> Result<(), RecordError> {
        if !self.flexible {
            return Ok(());
        }
        for _ in 0..self.varint()? {
            let tag = self.varint()?;
            let size = i64::from(self.varint()?);
            field(tag, self.take(size)?.unwrap_or_default());
        }
        Ok(())
    }

    /// Reads all tagged fields, of which one has a meaning.
    pub(super) fn tagged_field(&mut self, wanted: u32) -> Result<Option<&'a [u8]>, RecordError> {
        let mut found = None;
        self.tagged_fields(|tag, field| {
            if tag == wanted {
                found = Some(field);
            }
        })?;
        Ok(found)
    }

    fn length(&mut self) -> Result<i64, RecordError> {
        if self.flexible { self.compact_length() } else { Ok(self.i32()?.into()) }
    }

    /// Length plus one; 0 is null.
    fn compact_length(&mut self) -> Result<i64, RecordError> {
        Ok(i64::from(self.varint()?) - 1)
    }

    pub(super) fn varint(&mut self) -> Result<u32, RecordError> {
        let mut value = 0u32;
        for shift in (0..35).step_by(7) {
            let byte = self.rest.try_get_u8().map_err(|_| RecordError::Truncated)?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(RecordError::Malformed)
    }

    /// `None` for the length −1.
    fn take(&mut self, length: i64) -> Result<Option<&'a [u8]>, RecordError> {
        if length == -1 {
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| RecordError::Malformed)?;
        let (head, rest) = self.rest.split_at_checked(length).ok_or(RecordError::Truncated)?;
        self.rest = rest;
        Ok(Some(head))
    }
}
