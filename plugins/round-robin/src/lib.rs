//! The partitioner `round-robin`: one partition after the other, whatever the key.
//!
//! A record's place follows from its number among its producer's records, so that a retry, or a batch
//! in parts, changes nothing. Producers start at different partitions.

use klamm_plugin::partitioner::{Batch, Partitioner};
use klamm_plugin::{Description, no_settings};

pub struct RoundRobin;

impl Partitioner for RoundRobin {
    fn describe() -> Description {
        let summary = "Places records on one partition after the other, whatever their key.";
        Description::new("round-robin", env!("CARGO_PKG_VERSION"), summary)
    }

    fn configure(settings: &str) -> Result<Self, String> {
        no_settings(settings)?;
        Ok(Self)
    }

    fn partition(&mut self, batch: &Batch<'_>) -> Result<Vec<u32>, String> {
        let place = |index| {
            let sequence = batch.sequence().wrapping_add(index);
            nth(batch.seed(), sequence, batch.partitions())
        };
        Ok((0..batch.count()).map(place).collect())
    }
}

fn nth(seed: u32, sequence: u32, partitions: u32) -> u32 {
    ((u64::from(seed) + u64::from(sequence)) % u64::from(partitions)) as u32
}

klamm_plugin::partitioner!(RoundRobin);

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_plugin::Needs;
    use klamm_plugin::partitioner::Columns;

    fn place(seed: u32, sequence: u32, count: u32, partitions: u32) -> Vec<u32> {
        let columns = Columns { partitions, count, sequence, seed, ..Columns::default() };
        RoundRobin.partition(&Batch::new(columns, Needs::NONE).unwrap()).unwrap()
    }

    #[test]
    fn partitions_come_in_order() {
        assert_eq!(place(0, 0, 7, 3), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(place(2, 2, 4, 3), [1, 2, 0, 1]);
    }

    #[test]
    fn the_next_batch_goes_on_where_the_last_one_ended() {
        let parts = [place(77, 5, 10, 15), place(77, 15, 1, 15), place(77, 16, 9, 15)].concat();
        assert_eq!(parts, place(77, 5, 20, 15));
    }

    #[test]
    fn no_partition_gets_two_more_than_another() {
        for partitions in [1, 2, 3, 15, 1000] {
            let places = place(u32::MAX, 123, 1000, partitions);
            let count = |p| places.iter().filter(|place| **place == p).count();
            let counts: Vec<usize> = (0..partitions).map(count).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn a_producer_whose_numbers_wrap_goes_on() {
        let places = place(u32::MAX, u32::MAX, 3, 4);
        assert!(places.iter().all(|place| *place < 4));
    }
}
