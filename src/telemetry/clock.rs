//! The wall clock, read here alone; rooms that decide are given the time.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::base::TimestampMs;

/// Now; 0 if the clock stands before 1970.
pub fn now() -> TimestampMs {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads it")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    TimestampMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
