//! Positions in a log and in time. Newtypes, because swapping two of them compiles otherwise.

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// Position of a record in a partition's log; 0 is the first ever written.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Offset(pub i64);

impl Add<i64> for Offset {
    type Output = Self;

    fn add(self, delta: i64) -> Self {
        Self(self.0 + delta)
    }
}

impl Sub for Offset {
    type Output = i64;

    fn sub(self, other: Self) -> i64 {
        self.0 - other.0
    }
}

/// Counts the leaders that a partition has had; a record batch carries its leader's (KIP-101).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LeaderEpoch(pub i32);

/// Milliseconds since the Unix epoch, UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct TimestampMs(pub i64);

impl TimestampMs {
    /// Milliseconds from `earlier` to this, 0 if that is later: clocks step backwards.
    pub fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}
