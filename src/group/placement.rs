//! Which partition of `__consumer_offsets` holds a group: Kafka's own rule, so that its tools find it too.

/// `abs(String.hashCode()) % partitions`, with Java's hash over UTF-16 units and Kafka's `abs`, which maps
/// the smallest integer to 0.
pub fn partition_for(group_id: &str, partitions: i32) -> i32 {
    assert!(partitions > 0, "a topic has partitions");
    let hash = group_id
        .encode_utf16()
        .fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    hash.checked_abs().unwrap_or(0) % partitions
}

#[cfg(test)]
mod tests {
    use super::partition_for;

    #[test]
    fn a_group_lies_where_javas_hash_says() {
        // Hashes from the definition in java.lang.String: "a" is 97, "ab" 97 * 31 + 98.
        for (group, hash) in [("", 0), ("a", 97), ("ab", 3105), ("é", 233)] {
            assert_eq!(partition_for(group, 50), hash % 50, "{group}");
        }
    }

    #[test]
    fn the_smallest_hash_goes_to_partition_zero() {
        // The best-known string whose Java hash is Integer.MIN_VALUE.
        assert_eq!(partition_for("polygenelubricants", 50), 0);
    }

    #[test]
    fn negative_hashes_are_folded() {
        // "zzzzzz" overflows to a negative hash.
        let hash = "zzzzzz".bytes().fold(0i32, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        assert!(hash < 0);
        assert_eq!(partition_for("zzzzzz", 7), -hash % 7);
    }
}
