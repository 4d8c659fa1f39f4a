//! The newest offset of each key, in memory of a fixed size. Keys are told apart by 128 bits of a hash whose secret is drawn
//! for each map, so that no client can make two of them meet.
//!
//! | slot        | bytes | holds                       |
//! |-------------|------:|-----------------------------|
//! | hash        |    16 | of the key                  |
//! | offset + 1  |     8 | 0 for a slot that is free   |

use std::hash::{BuildHasher as _, RandomState};

use crate::base::Offset;

const SLOT_BYTES: usize = 24;

/// Of four slots so many are used at most: a search then tries few.
const FILLED_QUARTERS: usize = 3;

/// The fewest slots of a map: below it nothing would be gained.
const SLOTS_MIN: usize = 16;

type Slot = [u64; 3];

pub(super) struct OffsetMap {
    /// Zeroed memory, which costs nothing before it is used.
    slots: Vec<Slot>,
    keys: usize,
    hashers: [RandomState; 2],
    /// Everything up to it is in the map.
    latest: Offset,
}

impl OffsetMap {
    /// A map for records at so many offsets from `from` on, in at most `bytes_max` of memory.
    pub(super) fn new(from: Offset, offsets: i64, bytes_max: usize) -> Self {
        let wanted = usize::try_from(offsets).unwrap_or(0).saturating_mul(4) / FILLED_QUARTERS + 1;
        let slots = wanted.min(bytes_max / SLOT_BYTES).max(SLOTS_MIN);
        Self {
            slots: vec![[0; 3]; slots],
            keys: 0,
            hashers: [RandomState::new(), RandomState::new()],
            latest: Offset(from.0 - 1),
        }
    }

    /// Whether it takes no further key.
    pub(super) fn is_full(&self) -> bool {
        self.keys >= self.slots.len() / 4 * FILLED_QUARTERS
    }

    /// Notes the newest record of a key so far. Offsets come in order.
    pub(super) fn put(&mut self, key: &[u8], offset: Offset) {
        debug_assert!(!self.is_full(), "the caller looks first");
        let hash = self.hash(key);
        let at = self.find(hash);
        if let Some(slot) = self.slots.get_mut(at) {
            self.keys += usize::from(is_free(slot));
            let [first, second] = hash;
            *slot = [first, second, offset.0 as u64 + 1];
        }
        self.pass(offset);
    }

    /// Notes that everything up to `offset` was looked at.
    pub(super) fn pass(&mut self, offset: Offset) {
        self.latest = self.latest.max(offset);
    }

    /// The newest offset of a key.
    pub(super) fn get(&self, key: &[u8]) -> Option<Offset> {
        let [.., offset] = self.slots.get(self.find(self.hash(key)))?;
        offset.checked_sub(1).map(|it| Offset(it as i64))
    }

    /// The last offset that was looked at.
    pub(super) fn latest(&self) -> Offset {
        self.latest
    }

    fn hash(&self, key: &[u8]) -> [u64; 2] {
        self.hashers.each_ref().map(|it| it.hash_one(key))
    }

    /// The slot of a key, or the free one that it would take. There is always a free one.
    fn find(&self, [first, second]: [u64; 2]) -> usize {
        let count = self.slots.len();
        let start = ((u128::from(first) * count as u128) >> 64) as usize;
        let is_it = |at: &usize| {
            self.slots
                .get(*at)
                .is_some_and(|it| is_free(it) || it.first_chunk() == Some(&[first, second]))
        };
        (start..count).chain(0..start).find(is_it).unwrap_or(start)
    }
}

fn is_free([.., offset]: &Slot) -> bool {
    *offset == 0
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn memory_is_what_the_offsets_need_and_no_more_than_allowed() {
        assert_eq!(OffsetMap::new(Offset(0), 3_000, 1 << 20).slots.len(), 4_001);
        assert_eq!(OffsetMap::new(Offset(0), i64::MAX, 24_000).slots.len(), 1_000);
        assert_eq!(OffsetMap::new(Offset(0), 0, 0).slots.len(), SLOTS_MIN);
    }

    #[test]
    fn a_full_map_knows_all_that_it_took() {
        let mut map = OffsetMap::new(Offset(5), i64::MAX, 24 * 100);
        assert_eq!(map.latest(), Offset(4));
        let mut offset = Offset(5);
        while !map.is_full() {
            map.put(&offset.0.to_be_bytes(), offset);
            offset = offset + 1;
        }
        assert_eq!((offset, map.latest()), (Offset(80), Offset(79)));
        let found = (5..80_i64).filter(|it| map.get(&it.to_be_bytes()) == Some(Offset(*it)));
        assert_eq!(found.count(), 75);
        assert_eq!(map.get(b"another"), None);
    }

    proptest! {
        #[test]
        fn it_is_a_map(keys in proptest::collection::vec(0_u8..40, 0..200)) {
            let mut map = OffsetMap::new(Offset(0), 200, 1 << 20);
            let mut model = HashMap::new();
            for (offset, key) in (0..).map(Offset).zip(&keys) {
                map.put(&[*key], offset);
                model.insert(*key, offset);
            }
            for key in 0..40 {
                prop_assert_eq!(map.get(&[key]), model.get(&key).copied());
            }
        }
    }
}
