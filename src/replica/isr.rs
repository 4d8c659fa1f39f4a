//! The in-sync replicas, and the high watermark that follows from where each of them is. Pure.
//!
//! On one node the leader is the only replica, and the high watermark is its log's end.

use std::collections::HashMap;

use crate::base::{BrokerId, Offset};

/// What a leader knows of its replicas.
#[derive(Debug)]
pub(super) struct Isr {
    members: Vec<BrokerId>,
    /// Log ends as last heard of.
    ends: HashMap<BrokerId, Offset>,
    high_watermark: Offset,
}

impl Isr {
    pub(super) fn new(members: Vec<BrokerId>, high_watermark: Offset) -> Self {
        Self { members, ends: HashMap::new(), high_watermark }
    }

    pub(super) fn set_members(&mut self, members: Vec<BrokerId>) {
        self.members = members;
    }

    pub(super) fn size(&self) -> usize {
        self.members.len()
    }

    /// Notes how far a replica's log reaches; returns the high watermark, which never falls.
    pub(super) fn advance(&mut self, replica: BrokerId, log_end: Offset) -> Offset {
        let end = self.ends.entry(replica).or_insert(log_end);
        *end = log_end.max(*end);
        let known = |it| self.ends.get(it).copied().unwrap_or(self.high_watermark);
        let slowest = self.members.iter().map(known).min().unwrap_or(self.high_watermark);
        self.high_watermark = self.high_watermark.max(slowest);
        self.high_watermark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_watermark_is_the_end_of_the_slowest_in_sync_replica_and_never_falls() {
        let [a, b, c] = [1, 2, 3].map(BrokerId);
        let mut isr = Isr::new(vec![a, b], Offset(0));
        assert_eq!(isr.advance(a, Offset(9)), Offset(0));
        assert_eq!(isr.advance(b, Offset(4)), Offset(4));
        assert_eq!(isr.advance(c, Offset(1)), Offset(4), "not in sync");
        isr.set_members(vec![a]);
        assert_eq!(isr.advance(a, Offset(9)), Offset(9));
        isr.set_members(vec![a, b]);
        assert_eq!(isr.advance(a, Offset(12)), Offset(9));
    }
}
