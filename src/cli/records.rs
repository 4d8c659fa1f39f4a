//! Which partition a keyed record goes to, as the Java client chooses (KIP-480's keyed part).

/// Kafka's murmur2 of a key, made positive, over the partitions.
pub(super) fn partition_of(key: &[u8], partitions: usize) -> usize {
    (murmur2(key) & 0x7fff_ffff) as usize % partitions.max(1)
}

/// MurmurHash 2 with Kafka's seed.
fn murmur2(data: &[u8]) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let mut hash = 0x9747_b28c ^ data.len() as u32;
    let mut words = data.chunks_exact(4);
    for word in &mut words {
        let word = word.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let mixed = word.wrapping_mul(M);
        let mixed = (mixed ^ (mixed >> 24)).wrapping_mul(M);
        hash = hash.wrapping_mul(M) ^ mixed;
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        hash ^= rest.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        hash = hash.wrapping_mul(M);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(M);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::murmur2;

    /// Values that Kafka's own test of its hash pins.
    #[test]
    fn the_hash_is_kafkas() {
        for (key, want) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
        ] {
            assert_eq!(murmur2(key.as_bytes()) as i32, want, "{key}");
        }
    }
}
