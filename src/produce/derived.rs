//! Producer ids of routed parts: derived from the client's id and the receiving partition, so that a target
//! recognises what it has stored whoever sends it.
//!
//! | bits  | hold                              |
//! |-------|-----------------------------------|
//! | 63    | 0: ids are not negative           |
//! | 62    | 1: derived, never allocated       |
//! | 16-61 | the client's producer id          |
//! | 0-15  | index of the receiving partition  |

use crate::base::ProducerId;

/// Bits of a client's producer id; allocation stays far below.
const ID_BITS: u32 = 46;
/// Bits of the receiving partition's index.
const PARTITION_BITS: u32 = 16;
const DERIVED: i64 = 1 << 62;

/// The derived id; injective. `None` when the id or the index has too many bits, and the batch cannot be routed.
pub(crate) fn derived_id(client: ProducerId, receiving_partition: i32) -> Option<ProducerId> {
    let id_fits = (0..1 << ID_BITS).contains(&client.0);
    let partition_fits = (0..1 << PARTITION_BITS).contains(&receiving_partition);
    (id_fits && partition_fits).then(|| {
        ProducerId(DERIVED | (client.0 << PARTITION_BITS) | i64::from(receiving_partition))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::is_derived;

    #[test]
    fn derived_ids_are_positive_marked_and_injective() {
        let edges = [(0, 0), (0, 1), (1, 0), ((1 << 46) - 1, 0), ((1 << 46) - 1, 65_535)];
        let ids: Vec<ProducerId> =
            edges.iter().map(|&(id, at)| derived_id(ProducerId(id), at).unwrap()).collect();
        for (index, id) in ids.iter().enumerate() {
            assert!(id.0 > 0);
            assert!(is_derived(*id));
            assert!(!ids[index + 1..].contains(id));
        }
    }

    #[test]
    fn what_does_not_fit_is_not_derived() {
        assert_eq!(derived_id(ProducerId(1 << 46), 0), None);
        assert_eq!(derived_id(ProducerId(-1), 0), None);
        assert_eq!(derived_id(ProducerId(0), 65_536), None);
    }
}
