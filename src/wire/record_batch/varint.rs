//! Zigzag variable-length integers, as records use them: seven bits a byte, the lowest first, the sign in bit 0.
//! [`Reader`](crate::wire::reader::Reader) reads them.

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
    use crate::wire::reader::Reader;

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
