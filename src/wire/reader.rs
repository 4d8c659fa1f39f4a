//! Reads numbers and fields from bytes that a stranger sent.
//!
//! Rule: reading never goes past the slice and never fails loudly; `None` says that the bytes are no such thing.

/// Most bytes of a 32-bit and of a 64-bit integer.
const VARINT_BYTES_MAX: usize = 5;
const VARLONG_BYTES_MAX: usize = 10;

/// A position in bytes that a stranger sent.
pub(in crate::wire) struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(in crate::wire) fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// Bytes read so far.
    pub(in crate::wire) fn position(&self) -> usize {
        self.at
    }

    pub(in crate::wire) fn remaining(&self) -> usize {
        self.data.len() - self.at
    }

    pub(in crate::wire) fn u8(&mut self) -> Option<u8> {
        let byte = *self.data.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// The next `length` bytes.
    pub(in crate::wire) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.data.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    pub(in crate::wire) fn i16(&mut self) -> Option<i16> {
        self.take(2)?.first_chunk().map(|it| i16::from_be_bytes(*it))
    }

    pub(in crate::wire) fn i32(&mut self) -> Option<i32> {
        self.take(4)?.first_chunk().map(|it| i32::from_be_bytes(*it))
    }

    /// The length of a compact string or array, plus one; a tag; a size.
    pub(in crate::wire) fn unsigned_varint(&mut self) -> Option<u32> {
        // Bits beyond the 32nd are dropped, as Kafka's `ByteUtils` drops them.
        Some(self.unsigned(VARINT_BYTES_MAX)? as u32)
    }

    pub(in crate::wire) fn varint(&mut self) -> Option<i32> {
        let raw = self.unsigned_varint()?;
        Some((raw >> 1) as i32 ^ -((raw & 1) as i32))
    }

    pub(in crate::wire) fn varlong(&mut self) -> Option<i64> {
        let raw = self.unsigned(VARLONG_BYTES_MAX)?;
        Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    fn unsigned(&mut self, bytes_max: usize) -> Option<u64> {
        let mut value = 0;
        for index in 0..bytes_max {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_that_never_ends_or_ends_early_is_none() {
        assert_eq!(Reader::new(&[0x80; 6]).varint(), None);
        assert_eq!(Reader::new(&[0x80; 11]).varlong(), None);
        assert_eq!(Reader::new(&[0x80]).varint(), None);
        assert_eq!(Reader::new(&[]).varlong(), None);
        assert_eq!(Reader::new(&[1, 2]).take(usize::MAX), None);
    }

    #[test]
    fn a_failed_take_consumes_nothing() {
        let mut reader = Reader::new(&[0, 7, 9]);
        assert_eq!(reader.i32(), None);
        assert_eq!(reader.i16(), Some(7));
        assert_eq!((reader.position(), reader.remaining()), (2, 1));
    }
}
