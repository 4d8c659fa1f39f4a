//! The quota on changes of topics (KIP-599), counted in partitions. A request is refused item by item once the quota is used up;
//! versions that do not know that error are only held back.

use super::{Context, refusal::Refusal};
use crate::base::ErrorCode;

/// A request's use of its client's quota.
pub(super) struct Mutations<'a> {
    context: &'a Context,
    is_strict: bool,
    throttle_time_ms: i32,
}

/// No request makes more (`RECORDS_MAX` of the controller); one that names more is refused there.
const PARTITIONS_MAX: usize = 10_000;

fn counted(partitions: usize) -> f64 {
    partitions.min(PARTITIONS_MAX) as f64
}

impl<'a> Mutations<'a> {
    /// `strict_since` is the first version that knows the error.
    pub(super) fn new(context: &'a Context, strict_since: i16) -> Self {
        let is_strict = context.api_version >= strict_since;
        Self { context, is_strict, throttle_time_ms: 0 }
    }

    /// Whether a change of so many partitions may be made; then it is counted.
    pub(super) fn admit(&mut self, partitions: usize) -> Result<(), Refusal> {
        let Some(throttle) = &self.context.throttle else { return Ok(()) };
        let partitions = counted(partitions);
        let admitted = if self.is_strict {
            throttle.mutate(partitions)
        } else {
            self.throttle_time_ms = throttle.mutated(partitions);
            Ok(())
        };
        admitted.map_err(|ms| {
            self.throttle_time_ms = ms;
            Refusal::new(
                ErrorCode::ThrottlingQuotaExceeded,
                "The throttling quota has been exceeded.",
            )
        })
    }

    /// A change that was counted was not made.
    pub(super) fn give_back(&self, partitions: usize) {
        if let Some(throttle) = &self.context.throttle {
            throttle.unmutated(counted(partitions));
        }
    }

    pub(super) fn throttle_time_ms(&self) -> i32 {
        self.throttle_time_ms
    }
}
