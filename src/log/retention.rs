//! Which segments retention no longer keeps. Pure: deleting them is the log's business.

use super::LogSettings;
use crate::base::TimestampMs;

/// What retention goes by, of one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentSpan {
    pub(super) size: u64,
    /// The largest timestamp of its records, or when it was last written to if they have none.
    pub(super) youngest: TimestampMs,
}

/// How many segments from the front are to be deleted. The active one, the last, is among them only if it has
/// records and all of those before it go; another one without records, as damage leaves it, holds up nothing.
pub(super) fn deletable<S>(mut segments: S, settings: &LogSettings, now: TimestampMs) -> usize
where
    S: ExactSizeIterator<Item = SegmentSpan> + DoubleEndedIterator + Clone,
{
    if !settings.cleanup_policy.delete {
        return 0;
    }
    let count = by_time(segments.clone(), settings.retention_ms, now)
        .max(by_size(segments.clone(), settings.retention_bytes));
    let len = segments.len();
    let keeps_active = segments.next_back().is_some_and(|it| it.size == 0);
    count.min(len - usize::from(keeps_active))
}

/// `retention.ms`: −1 keeps for ever. Looks no further than to the first segment that is kept.
fn by_time(
    segments: impl Iterator<Item = SegmentSpan>,
    retention_ms: i64,
    now: TimestampMs,
) -> usize {
    let Ok(retention_ms) = u64::try_from(retention_ms) else { return 0 };
    segments.take_while(|it| now.since(it.youngest) > retention_ms).count()
}

/// `retention.bytes`: a segment goes if what follows it is still that much; −1 keeps all.
fn by_size(segments: impl Iterator<Item = SegmentSpan> + Clone, retention_bytes: i64) -> usize {
    let Ok(retention_bytes) = u64::try_from(retention_bytes) else { return 0 };
    let total: u64 = segments.clone().map(|it| it.size).sum();
    let Some(mut excess) = total.checked_sub(retention_bytes) else { return 0 };
    let goes = |it: &SegmentSpan| {
        let left = excess.checked_sub(it.size);
        excess = left.unwrap_or(0);
        left.is_some()
    };
    segments.take_while(goes).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::CleanupPolicy, log::tests::settings};

    fn check(sizes_and_ages: &[(u64, i64)], retention: (i64, i64), want: usize) {
        let now = TimestampMs(1_000_000);
        let spans = sizes_and_ages
            .iter()
            .map(|&(size, age)| SegmentSpan { size, youngest: TimestampMs(now.0 - age) });
        let settings =
            LogSettings { retention_ms: retention.0, retention_bytes: retention.1, ..settings() };
        assert_eq!(deletable(spans, &settings, now), want);
    }

    #[test]
    fn time_deletes_from_the_front_up_to_the_first_young_segment() {
        check(&[(10, 500), (10, 50), (10, 500)], (100, -1), 1);
        check(&[(10, 500), (10, 500), (0, 500)], (100, -1), 2);
        check(&[(10, 500), (10, 500)], (100, -1), 2);
        check(&[(10, 500)], (-1, -1), 0);
        check(&[(10, -500)], (100, -1), 0);
    }

    #[test]
    fn size_deletes_what_leaves_at_least_the_limit() {
        check(&[(10, 0), (10, 0), (5, 0)], (-1, 15), 1);
        check(&[(10, 0), (10, 0), (5, 0)], (-1, 16), 0);
        check(&[(10, 0), (10, 0), (5, 0)], (-1, 0), 3);
    }

    #[test]
    fn an_empty_segment_holds_up_none_but_an_empty_active_one_stays() {
        check(&[(0, 500), (10, 500), (10, 50)], (100, -1), 2);
        check(&[(10, 500), (0, 500), (10, 500)], (100, -1), 3);
        check(&[(0, 0), (10, 0), (0, 0), (10, 0)], (-1, 10), 3);
        check(&[(0, 0), (10, 0)], (-1, 11), 0);
        check(&[(0, 500)], (100, 0), 0);
        check(&[], (100, 0), 0);
    }

    #[test]
    fn a_compacted_log_keeps_everything() {
        let settings = LogSettings {
            cleanup_policy: CleanupPolicy { delete: false, compact: true },
            retention_ms: 0,
            ..settings()
        };
        let span = SegmentSpan { size: 1, youngest: TimestampMs(0) };
        assert_eq!(deletable([span].into_iter(), &settings, TimestampMs(99)), 0);
    }
}
