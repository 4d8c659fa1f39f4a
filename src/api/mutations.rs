//! The quota on changes of topics (KIP-599), counted in partitions. A request is refused item by item once the quota is used up;
//! versions that do not know that error are only held back.
//!
//! Rule: what is refused for another reason is not counted; what is only validated is, as Kafka's controller does it.

use super::{Context, refusal::Refusal, throttling::ClientThrottle};
use crate::base::ErrorCode;

/// A request's use of its client's quota.
pub(super) struct Mutations<'a> {
    throttle: &'a ClientThrottle,
    is_strict: bool,
    throttle_time_ms: i32,
}

/// Whether the quota lets a change be made.
pub(super) type Admission = Result<(), Refusal>;

impl<'a> Mutations<'a> {
    /// `strict_since` is the first version that knows the error. `None` while nobody has a quota.
    pub(super) fn of(context: &'a Context, strict_since: i16) -> Option<Self> {
        let throttle = context.throttle.as_deref()?;
        let is_strict = context.api_version >= strict_since;
        Some(Self { throttle, is_strict, throttle_time_ms: 0 })
    }

    /// Counts changes in their order: how many partitions each makes or deletes, `None` of one that is not valid. Those that are
    /// not valid may go on, to be refused for what they are.
    pub(super) fn admit(
        &mut self,
        partitions: impl IntoIterator<Item = Option<usize>>,
    ) -> Vec<Admission> {
        partitions.into_iter().map(|it| it.map_or(Ok(()), |it| self.admit_one(it))).collect()
    }

    fn admit_one(&mut self, partitions: usize) -> Admission {
        let partitions = partitions as f64;
        if !self.is_strict {
            self.throttle_time_ms = self.throttle.mutated(partitions);
            return Ok(());
        }
        self.throttle.mutate(partitions).map_err(|ms| {
            self.throttle_time_ms = ms;
            Refusal::new(
                ErrorCode::ThrottlingQuotaExceeded,
                "The throttling quota has been exceeded.",
            )
        })
    }

    pub(super) fn throttle_time_ms(&self) -> i32 {
        self.throttle_time_ms
    }
}

/// Of the items of a request, those that are admitted.
pub(super) fn retain_admitted<T>(items: &mut Vec<T>, admissions: &mut impl Iterator<Item = bool>) {
    items.retain(|_| admissions.next().unwrap_or(true));
}

/// An answer for each item in the request's order: `answers` of those that were admitted, the others' refusals.
pub(super) fn in_order<I, T>(
    items: &[I],
    admissions: &[Admission],
    answers: Vec<T>,
    refused: impl Fn(&I, &Refusal) -> T,
) -> Vec<T> {
    let mut answers = answers.into_iter();
    let answer = |(item, admission): (&I, &Admission)| match admission {
        Ok(()) => answers.next(),
        Err(refusal) => Some(refused(item, refusal)),
    };
    items.iter().zip(admissions).filter_map(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::test_node::throttled;

    #[test]
    fn what_is_not_valid_is_not_counted_and_goes_on() {
        // A bucket of 1.1 partitions, of which one request may overdraw.
        let context = throttled(7, "controller_mutation_rate", 0.1);
        let mut mutations = Mutations::of(&context, 6).unwrap();
        let admissions = mutations.admit([None, Some(5), None, Some(1)]);
        let is_admitted: Vec<_> = admissions.iter().map(Result::is_ok).collect();
        assert_eq!(is_admitted, [true, true, true, false]);
        assert!((35_000..=40_000).contains(&mutations.throttle_time_ms()));
        let all = ["invalid", "made", "wrong", "too much"];
        let mut items = all.to_vec();
        retain_admitted(&mut items, &mut is_admitted.into_iter());
        assert_eq!(items, ["invalid", "made", "wrong"]);
        assert_eq!(in_order(&all, &admissions, items, |it, _| *it), all);
    }

    #[test]
    fn an_older_version_is_only_held_back() {
        let context = throttled(5, "controller_mutation_rate", 0.1);
        let mut mutations = Mutations::of(&context, 6).unwrap();
        assert!(mutations.admit([Some(5), Some(5)]).iter().all(Result::is_ok));
        assert!(mutations.throttle_time_ms() > 80_000);
    }
}
