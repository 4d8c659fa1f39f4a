//! Reads numbers and fields from bytes that a stranger sent.
//!
//! Rule: reading never goes past the slice and never fails loudly; `None` says that the bytes are no such thing.

/// Most bytes of a 32-bit and of a 64-bit integer.
const VARINT_BYTES_MAX: usize = 5;
const VARLONG_BYTES_MAX: usize = 10;

/// A position in bytes that a stranger sent.
pub(in crate::wire) struct Reader<'a> {
    rest: &'a [u8],
    /// Of all bytes.
    length: usize,
}

impl<'a> Reader<'a> {
    pub(in crate::wire) fn new(data: &'a [u8]) -> Self {
        Self { rest: data, length: data.len() }
    }

    /// Bytes read so far.
    pub(in crate::wire) fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    pub(in crate::wire) fn remaining(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    pub(in crate::wire) fn u8(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    /// The next `length` bytes.
    #[inline]
    pub(in crate::wire) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    pub(in crate::wire) fn i16(&mut self) -> Option<i16> {
        self.take(2)?.first_chunk().map(|it| i16::from_be_bytes(*it))
    }

    pub(in crate::wire) fn i32(&mut self) -> Option<i32> {
        self.take(4)?.first_chunk().map(|it| i32::from_be_bytes(*it))
    }

    /// The length of a compact string or array, plus one; a tag; a size.
    #[inline]
    pub(in crate::wire) fn unsigned_varint(&mut self) -> Option<u32> {
        // Bits beyond the 32nd are dropped, as Kafka's `ByteUtils` drops them.
        Some(self.unsigned(VARINT_BYTES_MAX)? as u32)
    }

    #[inline]
    pub(in crate::wire) fn varint(&mut self) -> Option<i32> {
        let raw = self.unsigned_varint()?;
        Some((raw >> 1) as i32 ^ -((raw & 1) as i32))
    }

    #[inline]
    pub(in crate::wire) fn varlong(&mut self) -> Option<i64> {
        let raw = self.unsigned(VARLONG_BYTES_MAX)?;
        Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    /// Of at most `bytes_max` bytes. Each record has six or more, nearly all of one byte or two.
    #[inline]
    fn unsigned(&mut self, bytes_max: usize) -> Option<u64> {
        match *self.rest {
            [low, ref rest @ ..] if low < 0x80 => {
                self.rest = rest;
                Some(low.into())
            }
            [low, high, ref rest @ ..] if high < 0x80 => {
                self.rest = rest;
                Some(u64::from(low & 0x7f) | u64::from(high) << 7)
            }
            _ => self.unsigned_of_any_length(bytes_max),
        }
    }

    fn unsigned_of_any_length(&mut self, bytes_max: usize) -> Option<u64> {
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
    fn an_integer_is_read_however_many_bytes_it_takes() {
        let cases: [(&[u8], i32); 6] = [
            (&[0x00], 0),
            (&[0x7f], -64),
            (&[0x80, 0x01], 64),
            (&[0xff, 0x7f], -8192),
            (&[0x80, 0x80, 0x01], 8192),
            (&[0x80, 0x00], 0),
        ];
        for (bytes, want) in cases {
            let more = [bytes, &[0xff]].concat();
            let mut reader = Reader::new(&more);
            assert_eq!(reader.varint(), Some(want), "{bytes:?}");
            assert_eq!((reader.position(), reader.remaining()), (bytes.len(), 1), "{bytes:?}");
        }
    }

    #[test]
    fn a_failed_take_consumes_nothing() {
        let mut reader = Reader::new(&[0, 7, 9]);
        assert_eq!(reader.i32(), None);
        assert_eq!(reader.i16(), Some(7));
        assert_eq!((reader.position(), reader.remaining()), (2, 1));
    }
}
