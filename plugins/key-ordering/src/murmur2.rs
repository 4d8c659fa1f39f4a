//! Murmur2 in 32 bits as Kafka's Java client computes it, and the partition that follows.
//!
//! Frozen: where all keyed records of all topics are depends on it.

const SEED: u32 = 0x9747_b28c;
const MULTIPLIER: u32 = 0x5bd1_e995;

/// `partitions` is at least 1.
pub(crate) fn partition(key: &[u8], partitions: u32) -> u32 {
    // Java's hash is signed: its sign is cut off, not its magnitude taken.
    (hash(key) & 0x7fff_ffff) % partitions
}

fn hash(key: &[u8]) -> u32 {
    let (words, tail) = key.as_chunks::<4>();
    let start = SEED ^ key.len() as u32;
    let hash = words.iter().fold(start, |hash, word| {
        hash.wrapping_mul(MULTIPLIER) ^ scramble(u32::from_le_bytes(*word))
    });
    finish(mix_tail(hash, tail))
}

fn scramble(word: u32) -> u32 {
    let word = word.wrapping_mul(MULTIPLIER);
    (word ^ word >> 24).wrapping_mul(MULTIPLIER)
}

/// Up to three bytes, little-endian; none leave the hash alone.
fn mix_tail(hash: u32, tail: &[u8]) -> u32 {
    if tail.is_empty() {
        return hash;
    }
    let bytes = tail.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    (hash ^ bytes).wrapping_mul(MULTIPLIER)
}

fn finish(hash: u32) -> u32 {
    let hash = (hash ^ hash >> 13).wrapping_mul(MULTIPLIER);
    hash ^ hash >> 15
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes that Kafka's own tests of its Java client promise, which signs them.
    #[test]
    fn it_is_the_java_clients_hash() {
        let cases: [(&[u8], i32); 6] = [
            (b"21", -973_932_308),
            (b"foobar", -790_332_482),
            (b"a-little-bit-long-string", -985_981_536),
            (b"a-little-bit-longer-string", -1_486_304_829),
            (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            (b"abc", 479_470_107),
        ];
        for (key, want) in cases {
            assert_eq!(hash(key).cast_signed(), want, "{}", key.escape_ascii());
        }
    }

    #[test]
    fn a_partition_is_in_range_for_keys_of_every_length() {
        let bytes: Vec<u8> = (0..=255).collect();
        for len in 0..bytes.len() {
            for partitions in [1, 2, 15, 1000, u32::MAX] {
                assert!(partition(&bytes[..len], partitions) < partitions);
            }
        }
    }

    #[test]
    fn the_sign_is_cut_off() {
        assert_eq!(partition(b"21", u32::MAX), (-973_932_308_i32).cast_unsigned() & 0x7fff_ffff);
    }
}
