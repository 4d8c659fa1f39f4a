//! Offsets by time.

use super::*;
use crate::wire::record_batch::{BatchBuilder, Compression, RecordParts};

fn find(log: &Log, target: i64, ceiling: i64) -> Option<(i64, i64)> {
    let found = log.offset_for_timestamp(TimestampMs(target), Offset(ceiling)).unwrap();
    found.map(|it| (it.timestamp.0, it.offset.0))
}

#[test]
fn the_lowest_offset_at_or_after_a_time_is_found_in_any_segment() {
    for segment_bytes in [1 << 20, 300] {
        let dir = tempfile::tempdir().unwrap();
        let settings = LogSettings { segment_bytes, index_interval_bytes: 0, ..settings() };
        let log = open(&dir.path().join("t-0"), settings);
        // Timestamps need not rise.
        for timestamps in [[10, 12], [50, 40], [20, 21], [60, 60], [55, 70]] {
            append(&log, &Sent::records(2).at(&timestamps)).unwrap();
        }
        for (target, want) in [
            (0, Some((10, 0))),
            (11, Some((12, 1))),
            (13, Some((50, 2))),
            (41, Some((50, 2))),
            (51, Some((60, 6))),
            (60, Some((60, 6))),
            (61, Some((70, 9))),
            (71, None),
        ] {
            assert_eq!(find(&log, target, 10), want, "target {target}");
        }
        assert_eq!(find(&log, 61, 9), None, "below the ceiling alone");
        let newest = log.max_timestamp().unwrap().unwrap();
        assert_eq!((newest.timestamp, newest.offset), (TimestampMs(70), Offset(9)));
    }
}

#[test]
fn every_target_agrees_with_a_scan_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let narrow = LogSettings { segment_bytes: 700, index_interval_bytes: 150, ..settings() };
    let log = open(&path, narrow.clone());
    let mut all = Vec::new();
    for at in 0_i64..60 {
        let timestamps = [(at * 37) % 101, (at * 53) % 101 + 100];
        all.extend(timestamps);
        append(&log, &Sent::records(2).at(&timestamps)).unwrap();
    }
    log.close().unwrap();
    for log in [log, open_clean(&path, narrow.clone()), open(&path, narrow)] {
        for target in 0..210 {
            let want = all.iter().position(|&it| it >= target);
            let want = want.map(|at| (all[at], at as i64));
            assert_eq!(find(&log, target, 120), want, "target {target}");
        }
    }
}

#[test]
fn compressed_batches_and_log_append_time_are_looked_into() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    let mut builder = BatchBuilder::new(TimestampMs(100), Compression::Lz4);
    for at in 0..3 {
        builder.push(&RecordParts {
            offset_delta: at,
            timestamp_delta: i64::from(at) * 10,
            key: None,
            value: Some(b"v"),
            headers: vec![],
        });
    }
    log.append(vec![builder.build().unwrap()], context()).unwrap();
    let stamped = AppendContext { timestamp_type: TimestampType::LogAppendTime, ..context() };
    log.append(vec![Sent::records(2).at(&[1, 2]).batch()], stamped).unwrap();

    assert_eq!(find(&log, 101, 9), Some((110, 1)));
    assert_eq!(find(&log, 121, 9), Some((NOW.0, 3)));
}
