//! Zigzag variable-length integers, as records use them: seven bits a byte, the lowest first, the sign in bit 0.
//!
//! Rule: reading never goes past the slice and never fails loudly; `None` says that the bytes are no such integer.

/// Most bytes of a 32-bit and of a 64-bit integer.
const VARINT_BYTES_MAX: usize = 5;
const VARLONG_BYTES_MAX: usize = 10;

/// A position in bytes that a stranger sent.
pub(super) struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn remaining(&self) -> usize {
        self.data.len() - self.at
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        let byte = *self.data.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// The next `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.data.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    pub(super) fn varint(&mut self) -> Option<i32> {
        // Bits beyond the 32nd are dropped, as Kafka's `ByteUtils.readVarint` drops them.
        let raw = self.unsigned(VARINT_BYTES_MAX)? as u32;
        Some((raw >> 1) as i32 ^ -((raw & 1) as i32))
    }

    pub(super) fn varlong(&mut self) -> Option<i64> {
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

pub(super) fn put_varint(out: &mut Vec<u8>, value: i32) {
    put_varlong(out, value.into());
}

pub(super) fn put_varlong(out: &mut Vec<u8>, value: i64) {
    let mut raw = zigzag(value);
    while raw >= 0x80 {
        out.push(raw as u8 | 0x80);
        raw >>= 7;
    }
    out.push(raw as u8);
}

/// Bytes that [`put_varlong`] writes.
pub(super) fn varlong_bytes(value: i64) -> usize {
    let bits = u64::BITS - zigzag(value).leading_zeros();
    bits.div_ceil(7).max(1) as usize
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ (value >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(value: i32, want: &[u8]) {
        let mut out = Vec::new();
        put_varint(&mut out, value);
        assert_eq!(out, want);
        assert_eq!(Reader::new(want).varint(), Some(value));
    }

    #[test]
    fn small_numbers_of_either_sign_take_one_byte() {
        check(0, &[0]);
        check(-1, &[1]);
        check(63, &[0x7e]);
        check(-64, &[0x7f]);
        check(64, &[0x80, 0x01]);
        check(i32::MAX, &[0xfe, 0xff, 0xff, 0xff, 0x0f]);
        check(i32::MIN, &[0xff, 0xff, 0xff, 0xff, 0x0f]);
    }

    #[test]
    fn an_integer_that_never_ends_or_ends_early_is_none() {
        assert_eq!(Reader::new(&[0x80; 6]).varint(), None);
        assert_eq!(Reader::new(&[0x80; 11]).varlong(), None);
        assert_eq!(Reader::new(&[0x80]).varint(), None);
        assert_eq!(Reader::new(&[]).varlong(), None);
        assert_eq!(Reader::new(&[1, 2]).take(usize::MAX), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value: i64) {
            let mut out = Vec::new();
            put_varlong(&mut out, value);
            prop_assert_eq!(out.len(), varlong_bytes(value));
            let mut reader = Reader::new(&out);
            prop_assert_eq!(reader.varlong(), Some(value));
            prop_assert_eq!(reader.remaining(), 0);
        }
    }
}
