//! Which segments become one. Pure; as Kafka's `groupSegmentsBySize`.

use super::super::LogSettings;
use crate::base::Offset;

/// A segment that is to be cleaned.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupSpan {
    pub(super) base_offset: Offset,
    /// Where the next one begins.
    pub(super) end: Offset,
    pub(super) size: u64,
    pub(super) offset_index_bytes: u64,
    pub(super) time_index_bytes: u64,
}

/// How many segments each group has, in order: neighbours whose files fit one segment even if nothing of them goes.
pub(super) fn groups(spans: &[GroupSpan], settings: &LogSettings) -> Vec<usize> {
    let mut groups = Vec::new();
    let mut rest = spans;
    while !rest.is_empty() {
        let count = fitting(rest, settings);
        groups.push(count);
        rest = rest.get(count..).unwrap_or_default();
    }
    groups
}

/// At least one.
fn fitting(spans: &[GroupSpan], settings: &LogSettings) -> usize {
    let Some(first) = spans.first() else { return 0 };
    let (mut size, mut offset_index, mut time_index) = (0, 0, 0);
    let fits = |it: &&GroupSpan| {
        size += it.size;
        offset_index += it.offset_index_bytes;
        time_index += it.time_index_bytes;
        size <= u64::from(settings.segment_bytes)
            && offset_index.max(time_index) <= u64::from(settings.segment_index_bytes)
            && i32::try_from(it.end - first.base_offset).is_ok()
    };
    spans.iter().take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::tests::settings;

    #[track_caller]
    fn check(spans: &[(i64, i64, u64, u64)], want: &[usize]) {
        let settings = LogSettings { segment_bytes: 100, segment_index_bytes: 50, ..settings() };
        let span = |&(base, end, size, index_bytes): &(i64, i64, u64, u64)| GroupSpan {
            base_offset: Offset(base),
            end: Offset(end),
            size,
            offset_index_bytes: index_bytes,
            time_index_bytes: 0,
        };
        let spans: Vec<_> = spans.iter().map(span).collect();
        assert_eq!(groups(&spans, &settings), want);
    }

    #[test]
    fn neighbours_become_one_as_long_as_they_fit() {
        check(&[], &[]);
        check(&[(0, 1, 40, 0), (1, 2, 60, 0), (2, 3, 1, 0)], &[2, 1]);
        check(&[(0, 1, 400, 0), (1, 2, 400, 0)], &[1, 1]);
        check(&[(0, 1, 1, 30), (1, 2, 1, 21), (2, 3, 1, 29)], &[1, 2]);
        let far = i64::from(i32::MAX);
        check(&[(5, 9, 1, 1), (9, far + 5, 1, 1), (far + 5, far + 6, 1, 1)], &[2, 1]);
    }
}
