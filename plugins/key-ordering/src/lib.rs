//! The partitioner `key-ordering`: the partition that the Java client's default partitioner names, for
//! the records of every client.
//!
//! A null key has no order to keep: such records go round-robin. The empty key is a key.

mod murmur2;

use klamm_plugin::partitioner::{Batch, Partitioner};
use klamm_plugin::{Description, Needs, no_settings};

pub struct KeyOrdering;

impl Partitioner for KeyOrdering {
    fn describe() -> Description {
        let summary =
            "Places records by their key, as the Java client does; without a key round-robin.";
        Description::new("key-ordering", env!("CARGO_PKG_VERSION"), summary)
            .needs(Needs::KEYS)
            .key_pure()
    }

    fn configure(settings: &str) -> Result<Self, String> {
        no_settings(settings)?;
        Ok(Self)
    }

    fn partition(&mut self, batch: &Batch<'_>) -> Result<Vec<u32>, String> {
        let mut next = start(batch);
        let place = |key: Option<&[u8]>| match key {
            Some(key) => murmur2::partition(key, batch.partitions()),
            None => take_turn(&mut next, batch.partitions()),
        };
        Ok(batch.keys().map(place).collect())
    }
}

/// Where the batch's records without a key begin: a stream of them goes on from batch to batch, and
/// producers begin at different partitions.
fn start(batch: &Batch<'_>) -> u32 {
    let turn = u64::from(batch.seed()) + u64::from(batch.sequence());
    (turn % u64::from(batch.partitions())) as u32
}

/// Only records without a key take turns, so that keyed ones between them leave no partition out.
fn take_turn(next: &mut u32, partitions: u32) -> u32 {
    let turn = *next;
    *next = if turn + 1 < partitions { turn + 1 } else { 0 };
    turn
}

klamm_plugin::partitioner!(KeyOrdering);

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_plugin::partitioner::Columns;

    fn place(keys: &[Option<&[u8]>], sequence: u32, partitions: u32) -> Vec<u32> {
        let lens: Vec<i32> =
            keys.iter().map(|key| key.map_or(-1, |key| key.len() as i32)).collect();
        let data: Vec<u8> = keys.iter().flatten().copied().flatten().copied().collect();
        let columns = Columns {
            partitions,
            count: keys.len() as u32,
            keys: &data,
            key_lens: &lens,
            sequence,
            ..Columns::default()
        };
        KeyOrdering.partition(&Batch::new(columns, Needs::KEYS).unwrap()).unwrap()
    }

    #[test]
    fn a_key_stays_where_it_is_whatever_surrounds_it() {
        let alone = place(&[Some(b"order-17")], 0, 15);
        let among = place(&[None, Some(b"a"), Some(b"order-17"), None], 12345, 15);
        assert_eq!(alone[0], among[2]);
    }

    #[test]
    fn the_empty_key_is_a_key() {
        let places = place(&[Some(b""), None, Some(b""), None, Some(b"")], 0, 15);
        assert_eq!((places[0], places[0]), (places[2], places[4]));
        assert_eq!(places[0], murmur2::partition(b"", 15));
        assert_ne!(places[1], places[3]);
    }

    #[test]
    fn null_keys_go_on_from_batch_to_batch() {
        assert_eq!(place(&[None; 5], 0, 3), [0, 1, 2, 0, 1]);
        assert_eq!(place(&[None; 5], 5, 3), [2, 0, 1, 2, 0]);
    }

    #[test]
    fn keyed_records_between_null_keys_leave_no_partition_out() {
        let keys: Vec<Option<&[u8]>> = (0..40).map(|i| (i % 2 == 0).then_some(&b"k"[..])).collect();
        let places = place(&keys, 0, 4);
        let nulls: Vec<u32> = places.into_iter().skip(1).step_by(2).collect();
        for partition in 0..4 {
            assert_eq!(nulls.iter().filter(|place| **place == partition).count(), 5);
        }
    }
}
