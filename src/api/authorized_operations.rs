//! What a caller may do, as bit sets (KIP-430). There are no ACLs yet: every caller may do everything.

/// Nobody asked.
pub(super) const OMITTED: i32 = i32::MIN;

/// Create, alter, describe, cluster action, describe and alter configs, idempotent write.
pub(super) const CLUSTER: i32 = bits(&[5, 7, 8, 9, 10, 11, 12]);

/// Read, write, create, delete, alter, describe, describe and alter configs.
pub(super) const TOPIC: i32 = bits(&[3, 4, 5, 6, 7, 8, 10, 11]);

/// Read, delete, describe, describe and alter configs.
pub(super) const GROUP: i32 = bits(&[3, 6, 8, 10, 11]);

/// `operations` by the numbers of Kafka's `AclOperation`.
const fn bits(operations: &[u8]) -> i32 {
    let mut bits = 0;
    let mut rest = operations;
    while let [operation, tail @ ..] = rest {
        bits |= 1 << *operation;
        rest = tail;
    }
    bits
}
