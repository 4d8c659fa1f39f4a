//! UUIDs as Kafka writes them: base64 with the alphabet for URLs, without padding.

use uuid::Uuid;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// 16 bytes are 21 letters of six bits, and one of two.
const LETTERS: u32 = 22;

/// 22 letters.
pub fn encode(id: Uuid) -> String {
    // 128 bits with four zero bits behind them, six at a time from the left.
    let bits = id.as_u128();
    let letter = |at: u32| match 122_u32.checked_sub(6 * at) {
        Some(shift) => (bits >> shift) & 0x3f,
        None => (bits << 4) & 0x3f,
    };
    (0..LETTERS)
        .filter_map(|at| ALPHABET.get(letter(at) as usize))
        .map(|&it| char::from(it))
        .collect()
}

/// `None` for what Kafka does not write.
pub fn decode(text: &str) -> Option<Uuid> {
    if text.len() != LETTERS as usize {
        return None;
    }
    let value = |it: u8| ALPHABET.iter().position(|&letter| letter == it).map(|at| at as u128);
    let (&last, first) = text.as_bytes().split_last()?;
    let mut bits = 0_u128;
    for &letter in first {
        bits = bits << 6 | value(letter)?;
    }
    Some(Uuid::from_u128(bits << 2 | value(last)? >> 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_as_kafka_writes_it() {
        let id = Uuid::from_u128(0x0000_0000_0000_0000_0000_0000_0000_0001);
        assert_eq!(encode(id), "AAAAAAAAAAAAAAAAAAAAAQ");
        assert_eq!(encode(Uuid::max()), "_____________________w");
        for id in [id, Uuid::from_u128(u128::MAX), Uuid::from_u128(0x1234_5678 << 90)] {
            assert_eq!(decode(&encode(id)), Some(id));
        }
        assert_eq!(decode("AAAA"), None);
        assert_eq!(decode("AAAAAAAAAAAAAAAAAAAA=="), None);
    }
}
