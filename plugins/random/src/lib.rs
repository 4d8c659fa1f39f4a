//! The partitioner `random`: every partition is equally likely for every record, whatever its key.
//!
//! The number comes from hashing the producer's seed with the record's sequence number, not from a
//! random source, which plugins do not have. A retried batch therefore gets the same answer.

use klamm_plugin::partitioner::{Batch, Partitioner};
use klamm_plugin::{Description, no_settings};

pub struct Random;

impl Partitioner for Random {
    fn describe() -> Description {
        let summary = "Places each record anywhere, all partitions being equally likely.";
        Description::new("random", env!("CARGO_PKG_VERSION"), summary)
    }

    fn configure(settings: &str) -> Result<Self, String> {
        no_settings(settings)?;
        Ok(Self)
    }

    fn partition(&mut self, batch: &Batch<'_>) -> Result<Vec<u32>, String> {
        let place = |index| {
            let sequence = batch.sequence().wrapping_add(index);
            scale(mix(batch.seed(), sequence), batch.partitions())
        };
        Ok((0..batch.count()).map(place).collect())
    }
}

/// SplitMix64: neighbouring numbers come out unrelated.
fn mix(seed: u32, sequence: u32) -> u64 {
    let start = u64::from(seed) << 32 | u64::from(sequence);
    let state = start.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let once = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let twice = (once ^ once >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    twice ^ twice >> 31
}

/// From the whole range of 64 bits to `0..partitions`.
fn scale(number: u64, partitions: u32) -> u32 {
    ((u128::from(number) * u128::from(partitions)) >> 64) as u32
}

klamm_plugin::partitioner!(Random);

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_plugin::Needs;
    use klamm_plugin::partitioner::Columns;

    fn place(seed: u32, sequence: u32, count: u32, partitions: u32) -> Vec<u32> {
        let columns = Columns { partitions, count, sequence, seed, ..Columns::default() };
        Random.partition(&Batch::new(columns, Needs::NONE).unwrap()).unwrap()
    }

    fn counts(places: &[u32], partitions: u32) -> Vec<usize> {
        (0..partitions).map(|p| places.iter().filter(|place| **place == p).count()).collect()
    }

    #[test]
    fn every_partition_is_equally_likely() {
        for partitions in [1, 2, 3, 7, 15, 100] {
            let places = place(12345, 0, 100_000, partitions);
            let mean = 100_000.0 / f64::from(partitions);
            for count in counts(&places, partitions) {
                let off = (count as f64 - mean).abs();
                assert!(off < 5.0 * mean.sqrt(), "{count} of {mean} in one of {partitions}");
            }
        }
    }

    #[test]
    fn single_record_batches_of_many_producers_spread_too() {
        let places: Vec<u32> = (0..10_000).flat_map(|seed| place(seed, 0, 1, 10)).collect();
        assert!(counts(&places, 10).into_iter().all(|count| (850..1150).contains(&count)));
    }

    #[test]
    fn one_record_says_nothing_of_the_next() {
        let places = place(1, 0, 90_001, 3);
        let pairs: Vec<u32> = places.windows(2).map(|pair| pair[0] * 3 + pair[1]).collect();
        assert!(counts(&pairs, 9).into_iter().all(|count| (9_500..10_500).contains(&count)));
    }

    #[test]
    fn a_retry_gets_the_same_answer_and_a_part_of_a_batch_too() {
        let whole = place(9, u32::MAX - 3, 10, 15);
        let parts = [place(9, u32::MAX - 3, 4, 15), place(9, 0, 6, 15)].concat();
        assert_eq!(whole, parts);
    }
}
