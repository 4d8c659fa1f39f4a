//! What of a compacted log may be cleaned, and whether it is worth it. Pure; as Kafka's `LogCleanerManager` decides.
//!
//! Rule: the active segment is never cleaned, nor what is not committed, nor what is younger than `min.compaction.lag.ms`.

use super::super::LogSettings;
use crate::base::{Offset, TimestampMs};

/// A sealed segment, as the cleaner looks at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SealedSpan {
    pub(super) base_offset: Offset,
    pub(super) size: u64,
    /// The largest timestamp of its records, or when it was last written to if they have none.
    pub(super) youngest: TimestampMs,
    /// Of its first batch, if it has one.
    pub(super) first: Option<TimestampMs>,
}

/// The part of a log that the cleaner has not looked at yet, and may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleanable {
    pub(super) first_dirty: Offset,
    /// Exclusive.
    pub(super) end: Offset,
    clean_bytes: u64,
    dirty_bytes: u64,
    /// A record of it is older than `max.compaction.lag.ms` (KIP-354).
    is_overdue: bool,
}

impl Cleanable {
    /// The share of what is not clean, of what will be.
    pub fn dirty_ratio(&self) -> f64 {
        self.dirty_bytes as f64 / (self.clean_bytes + self.dirty_bytes).max(1) as f64
    }

    pub(super) fn is_due(&self, settings: &LogSettings) -> bool {
        self.dirty_bytes > 0
            && (self.is_overdue || self.dirty_ratio() > settings.min_cleanable_dirty_ratio)
    }
}

/// `sealed` are all segments but the active one, which begins at `active`. Offsets from `ceiling` on are not committed.
pub(super) fn cleanable(
    sealed: &[SealedSpan],
    active: Offset,
    first_dirty: Offset,
    ceiling: Offset,
    settings: &LogSettings,
    now: TimestampMs,
) -> Option<Cleanable> {
    let first_dirty_at =
        sealed.partition_point(|it| it.base_offset <= first_dirty).saturating_sub(1);
    let (clean, dirty) = sealed.split_at_checked(first_dirty_at)?;
    let too_young = dirty.iter().find(|it| is_too_young(it, settings, now));
    let end = too_young.map_or(active, |it| it.base_offset).min(active).min(ceiling);
    if end <= first_dirty {
        return None;
    }
    let bytes = |it: &[SealedSpan]| it.iter().map(|it| it.size).sum();
    let cleanable = dirty.partition_point(|it| it.base_offset < end);
    Some(Cleanable {
        first_dirty,
        end,
        clean_bytes: bytes(clean),
        dirty_bytes: bytes(dirty.get(..cleanable).unwrap_or_default()),
        is_overdue: is_overdue(dirty, settings, now),
    })
}

fn is_too_young(span: &SealedSpan, settings: &LogSettings, now: TimestampMs) -> bool {
    let lag_ms = u64::try_from(settings.min_compaction_lag_ms).unwrap_or(0);
    lag_ms > 0 && now.since(span.youngest) < lag_ms
}

fn is_overdue(dirty: &[SealedSpan], settings: &LogSettings, now: TimestampMs) -> bool {
    let lag_ms = u64::try_from(settings.max_compaction_lag_ms).unwrap_or(0);
    let oldest = dirty.iter().filter_map(|it| it.first).filter(|it| it.0 > 0).min();
    oldest.is_some_and(|it| now.since(it) > lag_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::tests::settings;

    const NOW: TimestampMs = TimestampMs(1_000_000);

    /// Segments of ten offsets, by size and age; the active one follows.
    fn spans(sizes_and_ages: &[(u64, i64)]) -> (Vec<SealedSpan>, Offset) {
        let span = |(at, &(size, age)): (i64, &(u64, i64))| SealedSpan {
            base_offset: Offset(at * 10),
            size,
            youngest: TimestampMs(NOW.0 - age),
            first: Some(TimestampMs(NOW.0 - age)),
        };
        let spans: Vec<_> = (0..).zip(sizes_and_ages).map(span).collect();
        let active = Offset(spans.len() as i64 * 10);
        (spans, active)
    }

    fn found(
        sizes_and_ages: &[(u64, i64)],
        first_dirty: i64,
        ceiling: i64,
        settings: &LogSettings,
    ) -> Option<Cleanable> {
        let (spans, active) = spans(sizes_and_ages);
        cleanable(&spans, active, Offset(first_dirty), Offset(ceiling), settings, NOW)
    }

    #[test]
    fn all_but_the_active_segment_and_what_is_not_committed_may_be_cleaned() {
        let end = |it: Option<Cleanable>| it.map(|it| it.end.0);
        let sealed = [(50, 9), (50, 9), (100, 9)];
        assert_eq!(end(found(&sealed, 0, 99, &settings())), Some(30));
        assert_eq!(end(found(&sealed, 0, 25, &settings())), Some(25));
        assert_eq!(end(found(&sealed, 30, 99, &settings())), None, "all of it is clean");
        assert_eq!(end(found(&[], 0, 99, &settings())), None);
    }

    #[test]
    fn the_ratio_is_that_of_bytes_and_must_be_above_the_limit() {
        let sealed = [(50, 9), (50, 9), (100, 9)];
        let due = |first_dirty, min_cleanable_dirty_ratio| {
            let settings = LogSettings { min_cleanable_dirty_ratio, ..settings() };
            found(&sealed, first_dirty, 99, &settings).unwrap().is_due(&settings)
        };
        assert!(!due(20, 0.5));
        assert!(due(20, 0.49));
        assert!(due(15, 0.7), "a segment that is clean in part counts as dirty");
        assert!(due(0, 0.99));
        assert!(!due(0, 1.0));
        let settings = LogSettings { min_cleanable_dirty_ratio: 0.0, ..settings() };
        let empty = found(&[(0, 9)], 0, 99, &settings).unwrap();
        assert!(!empty.is_due(&settings), "an empty segment is no work");
    }

    #[test]
    fn what_is_young_waits_and_what_is_old_does_not() {
        let sealed = [(100, 900), (1, 500), (1, 100)];
        let young = LogSettings { min_compaction_lag_ms: 501, ..settings() };
        assert_eq!(found(&sealed, 0, 99, &young).unwrap().end, Offset(10));
        let young = LogSettings { min_compaction_lag_ms: 500, ..settings() };
        assert_eq!(found(&sealed, 0, 99, &young).unwrap().end, Offset(20));
        for (max_compaction_lag_ms, want) in [(499, true), (500, false)] {
            let settings = LogSettings { max_compaction_lag_ms, ..settings() };
            assert_eq!(found(&sealed, 10, 99, &settings).unwrap().is_due(&settings), want);
        }
    }
}
