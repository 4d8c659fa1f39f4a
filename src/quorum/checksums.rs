//! CRC-32Cs of any parts of some bytes, each found in a few steps however long the part is.
//!
//! Rule: a search that tries every place of a file costs no more for its being large. As in zlib's `crc32_combine`, CRCs are
//! polynomials over GF(2), and bytes behind a part multiply its CRC by a power of x.

/// CRC-32C's polynomial, reflected.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// The polynomial 1, reflected.
const ONE: u32 = 1 << 31;

/// CRCs of the beginnings of some bytes.
pub(super) struct Checksums {
    /// Of the first so many bytes.
    beginnings: Vec<u32>,
    /// x to the power of 8 · 2ⁿ, by n.
    powers: [u32; 32],
}

impl Checksums {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut crc = 0;
        let after = |byte: &u8| {
            crc = crc32c::crc32c_append(crc, &[*byte]);
            crc
        };
        let beginnings = std::iter::once(0).chain(bytes.iter().map(after)).collect();
        Self { beginnings, powers: powers() }
    }

    /// The CRC of bytes with the CRC `head` and, behind them, the part from `start` on; `None` if it does not lie within.
    pub(super) fn behind(&self, head: u32, start: usize, len: usize) -> Option<u32> {
        let (before, end) =
            (self.beginnings.get(start)?, self.beginnings.get(start.checked_add(len)?)?);
        Some(self.shifted(head ^ before, len) ^ end)
    }

    /// What becomes of a CRC by so many zeros behind its bytes.
    fn shifted(&self, crc: u32, len: usize) -> u32 {
        let is_set = |it: &(usize, &u32)| len >> it.0 & 1 == 1;
        self.powers.iter().enumerate().filter(is_set).fold(crc, |crc, (_, it)| product(*it, crc))
    }
}

fn powers() -> [u32; 32] {
    // x⁸.
    let mut next = ONE >> 8;
    std::array::from_fn(|_| {
        let power = next;
        next = product(power, power);
        power
    })
}

/// Of two polynomials, modulo CRC-32C's.
fn product(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    for bit in (0..32).rev() {
        if a >> bit & 1 == 1 {
            product ^= b;
        }
        b = (b >> 1) ^ (POLYNOMIAL * (b & 1));
    }
    product
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_part_has_the_crc_of_its_bytes(
            head in proptest::collection::vec(any::<u8>(), 0..10),
            bytes in proptest::collection::vec(any::<u8>(), 0..2_000),
            start in 0_usize..2_100,
            len in 0_usize..2_100,
        ) {
            let found = Checksums::of(&bytes).behind(crc32c::crc32c(&head), start, len);
            let part = bytes.get(start..start + len);
            let want = part.map(|it| crc32c::crc32c_append(crc32c::crc32c(&head), it));
            prop_assert_eq!(found, want);
        }
    }
}
