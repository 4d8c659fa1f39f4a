//! The sparse indexes: what they hold is what Kafka's tools verify, and lookups need little of them.

use super::*;

/// Entries of an index file as numbers of the given widths.
fn entries(path: &Path, widths: &[usize]) -> Vec<Vec<i64>> {
    let size: usize = widths.iter().sum();
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes.len() % size, 0);
    bytes.chunks(size).map(|entry| numbers(entry, widths)).collect()
}

fn numbers(mut entry: &[u8], widths: &[usize]) -> Vec<i64> {
    let mut numbers = Vec::new();
    for &width in widths {
        let (number, rest) = entry.split_at(width);
        numbers.push(number.iter().fold(0, |sum, &byte| sum << 8 | i64::from(byte)));
        entry = rest;
    }
    numbers
}

#[test]
fn an_entry_names_the_last_offset_of_the_batch_at_its_position() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, LogSettings { index_interval_bytes: 150, ..settings() });
    for _ in 0..9 {
        append(&log, &Sent::records(2)).unwrap();
    }
    let size = Sent::records(2).batch().bytes.len() as i64;
    let found = entries(&path.join("00000000000000000000.index"), &[4, 4]);
    assert!(found.len() >= 3);
    for entry in found {
        assert_eq!(entry[0], entry[1] / size * 2 + 1, "{entry:?}");
    }
}

#[test]
fn the_time_index_rises_and_ends_with_the_largest_after_a_close() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, LogSettings { index_interval_bytes: 0, ..settings() });
    for timestamp in [50, 40, 70, 60, 70, 90] {
        append(&log, &Sent::records(1).at(&[timestamp])).unwrap();
    }
    log.close().unwrap();
    let found = entries(&path.join("00000000000000000000.timeindex"), &[8, 4]);
    assert_eq!(found, [[50, 0], [70, 2], [90, 5]]);
    let largest = open_clean(&path, settings()).active().times().largest.unwrap();
    assert_eq!((largest.timestamp, largest.offset), (TimestampMs(90), Offset(5)));
}

#[test]
fn what_has_no_timestamp_has_no_entry_in_the_time_index_and_is_adopted_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, LogSettings { index_interval_bytes: 0, ..settings() });
    for _ in 0..3 {
        append(&log, &Sent::records(2).at(&[-1, -1])).unwrap();
    }
    log.close().unwrap();
    assert!(!path.join("00000000000000000000.timeindex").exists());
    let active = open_clean(&path, settings()).active();
    let largest = active.times().largest.unwrap();
    assert_eq!((largest.timestamp, largest.offset), (TimestampMs(-1), Offset(1)));
    assert_eq!(super::super::adopt::adopt(&active).unwrap(), Some(Offset(6)));
}

#[test]
fn without_its_time_index_a_segment_with_timestamps_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, settings());
    append(&log, &Sent::records(1).at(&[-1])).unwrap();
    append(&log, &Sent::records(1).at(&[70])).unwrap();
    log.close().unwrap();
    std::fs::remove_file(path.join("00000000000000000000.timeindex")).unwrap();
    let largest = open_clean(&path, settings()).active().times().largest.unwrap();
    assert_eq!((largest.timestamp, largest.offset), (TimestampMs(70), Offset(1)));
}

#[test]
fn a_closed_segment_has_both_indexes_though_one_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, settings());
    append(&log, &Sent::records(1)).unwrap();
    log.close().unwrap();
    assert_eq!(entries(&path.join("00000000000000000000.index"), &[4, 4]).len(), 0);
    assert_eq!(entries(&path.join("00000000000000000000.timeindex"), &[8, 4]).len(), 1);
}

#[test]
fn every_offset_is_found_through_a_long_index() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), LogSettings { index_interval_bytes: 0, ..settings() });
    for _ in 0..2_000 {
        append(&log, &Sent::records(1)).unwrap();
    }
    for offset in [0, 1, 511, 512, 513, 1_024, 1_500, 1_999] {
        let fetched = log.read(Offset(offset), Offset(2_000), 1, true).unwrap();
        assert_eq!(fetched.next_offset, Offset(offset + 1));
        let found = log.active().offset_index.lookup(Offset(offset)).unwrap();
        let position = found.map_or(0, |it| it.position);
        let size = Sent::records(1).batch().bytes.len() as u64;
        assert!(position <= offset as u64 * size && position + 2 * size > offset as u64 * size);
    }
}
