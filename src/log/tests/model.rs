//! Any sequence of appends, reads, restarts, deletions on request and retention agrees with a list in memory.

use proptest::{collection::vec, prelude::*};

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Append {
        batches: Vec<usize>,
        value_bytes: usize,
    },
    Read {
        from: i64,
        max_bytes: usize,
    },
    Kill,
    Restart,
    Retain,
    /// That many offsets of what is there.
    Delete(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (vec(1_usize..4, 1..3), 0_usize..300)
            .prop_map(|(batches, value_bytes)| Step::Append { batches, value_bytes }),
        4 => (0_i64..60, 0_usize..2_000).prop_map(|(from, max_bytes)| Step::Read { from, max_bytes }),
        1 => Just(Step::Kill),
        1 => Just(Step::Restart),
        1 => Just(Step::Retain),
        1 => (0_i64..60).prop_map(Step::Delete),
    ]
}

/// Spans of the batches that were acknowledged.
#[derive(Default)]
struct Model {
    spans: Vec<(i64, i64)>,
    sizes: Vec<usize>,
}

impl Model {
    fn end(&self) -> i64 {
        self.spans.last().map_or(0, |it| it.1 + 1)
    }

    fn append(&mut self, log: &Log, batches: &[usize], value_bytes: usize) {
        let sent: Vec<_> =
            batches.iter().map(|&it| Sent { value_bytes, ..Sent::records(it) }.batch()).collect();
        for (batch, &count) in sent.iter().zip(batches) {
            let end = self.end();
            self.spans.push((end, end + count as i64 - 1));
            self.sizes.push(batch.bytes.len());
        }
        let appended = log.append(sent, context()).unwrap();
        assert_eq!(appended.last_offset.0 + 1, self.end());
    }

    fn check_read(&self, log: &Log, from: i64, max_bytes: usize) {
        let result = log.read(Offset(from), Offset(i64::MAX), max_bytes, true);
        if from > self.end() || from < log.log_start_offset().0 {
            assert!(matches!(result, Err(LogError::OffsetOutOfRange { .. })));
            return;
        }
        let found: Vec<_> = result
            .unwrap()
            .batches()
            .map(|it| (it.header.base_offset.0, it.header.last_offset().0))
            .collect();
        let first = self.spans.iter().position(|it| it.1 >= from).unwrap_or(self.spans.len());
        assert_eq!(found[..], self.spans[first..first + found.len()]);
        assert_eq!(found.is_empty(), from == self.end());
        let bytes: usize = self.sizes[first..first + found.len()].iter().sum();
        assert!(found.len() <= 1 || bytes <= max_bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_log_agrees_with_a_list(steps in vec(step(), 1..40), interval in 0_u32..500) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        let settings = LogSettings {
            segment_bytes: 4_000,
            index_interval_bytes: interval,
            retention_bytes: 6_000,
            ..settings()
        };
        let mut log = open(&path, settings.clone());
        let (mut model, mut start) = (Model::default(), 0);
        for step in steps {
            match step {
                Step::Append { batches, value_bytes } => model.append(&log, &batches, value_bytes),
                Step::Read { from, max_bytes } => model.check_read(&log, from, max_bytes),
                Step::Kill => log = reopen(&path, settings.clone(), false, &log),
                Step::Restart => {
                    log.close().unwrap();
                    log = reopen(&path, settings.clone(), true, &log);
                }
                Step::Retain => {
                    log.retain(NOW).unwrap();
                    // What lies below the start is there only in the segment that holds it.
                    let segments = log.segments.load();
                    prop_assert!(segments.get(1).is_none_or(|it| it.base_offset > log.log_start_offset()));
                    start = start.max(segments[0].base_offset.0);
                }
                Step::Delete(count) => {
                    let to = start + count;
                    let deleted = log.raise_start(Offset(to));
                    prop_assert_eq!(deleted.is_ok(), to <= model.end());
                    start = if deleted.is_ok() { to } else { start };
                }
            }
            prop_assert_eq!(log.log_end_offset().0, model.end());
            prop_assert_eq!(log.log_start_offset().0, start);
        }
        let kept: Vec<_> = model.spans.iter().copied().filter(|it| it.1 >= start).collect();
        prop_assert_eq!(spans(&log), kept);
    }
}
