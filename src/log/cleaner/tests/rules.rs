//! What goes and what stays, by example.

use super::*;

#[test]
fn the_newest_record_of_each_key_stays_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, compacted());
    append_records(&log, &[keyed("a", "1"), keyed("b", "1"), keyed("c", "1")]);
    append_records(&log, &[keyed("a", "2"), keyed("b", "2")]);
    append_records(&log, &[keyed("a", "3")]);
    roll(&log);
    append_records(&log, &[keyed("c", "of the active segment")]);

    cleaner().clean(&log, log.log_end_offset(), NOW).unwrap().unwrap();

    let want = [
        (2, keyed("c", "1")),
        (4, keyed("b", "2")),
        (5, keyed("a", "3")),
        (6, keyed("c", "of the active segment")),
    ];
    assert_eq!(records(&log), want);
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(0), Offset(7)));
    let dirty = cleaner().clean(&log, log.log_end_offset(), NOW).unwrap();
    assert_eq!(dirty, None, "nothing is dirty but the active segment");
    log.close().unwrap();
    assert_eq!(records(&open_clean(&path, compacted())), want);
}

#[test]
fn a_tombstone_goes_once_its_time_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), compacted());
    append_records(&log, &[keyed("a", "1"), keyed("b", "1")]);
    append_records(&log, &[tombstone("a")]);
    clean(&log, NOW);
    assert_eq!(records(&log), [(1, keyed("b", "1")), (2, tombstone("a"))]);
    for (later, lives) in [(TOMBSTONE_MS - 1, true), (TOMBSTONE_MS, false)] {
        append_records(&log, &[keyed("c", "a reason to clean")]);
        clean(&log, TimestampMs(NOW.0 + later));
        let is_there = records(&log).iter().any(|it| it.1 == tombstone("a"));
        assert_eq!(is_there, lives, "after {later} ms");
    }
}

#[test]
fn small_segments_become_one_and_old_files_go_later() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, compacted());
    for at in 0..6 {
        append_records(&log, &[keyed("same", &at.to_string())]);
        roll(&log);
    }
    assert_eq!(log.segments.load().len(), 7);
    let old = std::sync::Arc::clone(&log.segments.load()[0]);
    clean(&log, NOW);
    assert_eq!(log.segments.load().len(), 2);
    assert_eq!(records(&log), [(5, keyed("same", "5"))]);
    assert_eq!(old.locate(Offset(0)).unwrap().unwrap().header.records_count, 1, "readers go on");
    assert_eq!(names(&path).iter().filter(|it| it.ends_with(".log.deleted")).count(), 6);
    log.retain(TimestampMs(NOW.0 + 60_000)).unwrap();
    let left = [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "00000000000000000006.log",
        "00000000000000000006.snapshot",
        "leader-epoch-checkpoint",
    ];
    assert_eq!(names(&path), left);
}

#[test]
fn a_consumer_comes_to_the_end_of_what_was_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), compacted());
    append_records(&log, &[keyed("a", "1"), tombstone("b")]);
    clean(&log, NOW);
    append_records(&log, &[keyed("a", "2"), tombstone("a")]);
    clean(&log, NOW);
    clean_after(&log, TOMBSTONE_MS);
    assert_eq!(records(&log), [(4, keyed("x", "x"))]);
    append(&log, own_control_batch(NOW, ControlType::Empty, b"", b""));
    clean(&log, NOW);
    let last = batches(&log).last().unwrap().header.clone();
    assert_eq!(last.records_count, 0);
    assert_eq!(last.last_offset() + 1, log.log_end_offset());
}

fn clean_after(log: &Log, later: i64) {
    append_records(log, &[keyed("x", "x")]);
    clean(log, TimestampMs(NOW.0 + later));
}

#[test]
fn the_last_batch_of_a_producer_stays_if_only_empty() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, compacted());
    let sent = |value: &str| builder(Compression::Zstd, &[keyed("a", value), keyed("b", value)]);
    append(&log, by(sent("1"), 7, 0));
    append(&log, by(sent("2"), 7, 2));
    append_records(&log, &[keyed("a", "3"), keyed("b", "3")]);
    clean(&log, NOW);
    let left: Vec<_> = batches(&log)
        .iter()
        .map(|it| (it.header.base_offset.0, it.header.base_sequence, it.header.records_count))
        .collect();
    assert_eq!(left, [(2, 2, 0), (4, -1, 2)]);
    drop(log);
    for name in names(&path).iter().filter(|it| it.ends_with(".snapshot")) {
        std::fs::remove_file(path.join(name)).unwrap();
    }
    let log = open(&path, compacted());
    let again = log.append(vec![by(sent("2"), 7, 2)], context()).unwrap();
    assert!(again.duplicate);
    assert_eq!((again.base_offset, again.last_offset), (Offset(2), Offset(3)));
    assert_eq!(append(&log, by(sent("4"), 7, 4)), Offset(6));
}

#[test]
fn our_control_batches_stay_for_as_long_as_they_are_needed() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), compacted());
    let data = |sequence| by(builder(Compression::None, &[keyed("x", "1")]), 7, sequence);
    let control = |sequence, kind| control_batch(&data(sequence).header, kind, b"value");
    let pending = |alert: &[u8]| own_control_batch(NOW, ControlType::PendingAlert, alert, b"{}");
    append(&log, control(0, ControlType::Empty));
    append(&log, control(1, ControlType::Route));
    append(&log, pending(b"fires"));
    append(&log, pending(b"waits"));
    append(&log, pending(b"waits"));
    append(&log, pending(b""));
    append(&log, control(2, ControlType::Route));
    append_records(&log, &[keyed("fires", "firing"), keyed("waits", "resolved")]);
    append(&log, pending(b"waits"));
    append_records(&log, &[keyed("y", "1")]);
    clean(&log, NOW);
    let left: Vec<_> = batches(&log)
        .iter()
        .map(|it| (it.header.base_offset.0, it.control().map(|it| it.0)))
        .collect();
    let (pending, route) = (Some(ControlType::PendingAlert), Some(ControlType::Route));
    assert_eq!(left, [(5, pending), (6, route), (7, None), (9, pending), (10, None)]);
    let unfinished = log.unfinished_route(ProducerId(7)).unwrap();
    assert!(log.route_record(unfinished.base_offset).is_ok());
}

#[test]
fn memory_for_few_keys_means_more_rounds() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), compacted());
    for at in 0..100 {
        append_records(&log, &[keyed(&format!("{}", at % 30), &at.to_string()), keyed("k", "v")]);
    }
    roll(&log);
    let small = cleaner_with(1);
    let mut rounds = 0;
    while let Some(cleaned) = small.clean(&log, log.log_end_offset(), NOW).unwrap() {
        assert!(cleaned.complete);
        rounds += 1;
    }
    assert!(rounds > 5, "{rounds}");
    let want: Vec<_> = (70..100)
        .map(|at| (at * 2, keyed(&format!("{}", at % 30), &at.to_string())))
        .chain([(199, keyed("k", "v"))])
        .collect();
    assert_eq!(records(&log), want);
}

#[test]
fn what_is_not_committed_is_not_cleaned_nor_does_it_supersede() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), compacted());
    append_records(&log, &[keyed("a", "1")]);
    append_records(&log, &[keyed("a", "2")]);
    append_records(&log, &[keyed("a", "3"), keyed("a", "4")]);
    roll(&log);
    cleaner().clean(&log, Offset(3), NOW).unwrap().unwrap();
    assert_eq!(log.first_dirty(), Offset(2), "a batch that is committed in part waits");
    assert_eq!(records(&log).len(), 3);
    let again = cleaner().clean(&log, Offset(3), NOW).unwrap().unwrap();
    assert!(!again.complete, "nothing was gained: the caller rests");
}

#[test]
fn a_log_with_a_batch_that_cannot_be_read_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, LogSettings { decompressed_max_bytes: 10_000, ..compacted() });
    append_records(&log, &[keyed("a", "1"), keyed("a", "2")]);
    let large = builder(Compression::Zstd, &[keyed("a", &"x".repeat(20_000))]);
    append(&log, large.build().unwrap());
    roll(&log);
    let error = cleaner().clean(&log, log.log_end_offset(), NOW).unwrap_err();
    assert!(matches!(error, LogError::Undecodable { offset: Offset(2), .. }), "{error}");
    assert!(log.is_uncleanable());
    assert_eq!(cleaner().clean(&log, log.log_end_offset(), NOW).unwrap(), None);
    assert_eq!(batches(&log).len(), 2);
    drop(log);

    let log = open(&path, compacted());
    let file = path.join("00000000000000000000.log");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[70] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let error = cleaner().clean(&log, log.log_end_offset(), NOW).unwrap_err();
    assert!(matches!(error, LogError::CorruptBatch { .. }), "{error}");
    assert_eq!(unfinished(&path), [""; 0]);
}

#[test]
fn retention_during_a_round_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let both = CleanupPolicy { delete: true, compact: true };
    let log = open(&path, LogSettings { cleanup_policy: both, retention_ms: 10, ..compacted() });
    append_records(&log, &[keyed("a", "1")]);
    roll(&log);
    append_records(&log, &[keyed("b", "1")]);
    let old = log.segments.load()[..1].to_vec();
    let mut output = super::super::output::CleanedSegment::create(&log, &old, 100).unwrap();
    output.push(&batches(&log)[0]).unwrap();
    output.finish(&log.home().health).unwrap();
    assert_eq!(log.retain(TimestampMs(NOW.0 + 1_000)).unwrap(), 2);
    assert!(!log.swap(&old, output.into_segment(), NOW).unwrap());
    assert_eq!(records(&log), []);
    assert_eq!(unfinished(&path), [""; 0]);
}

#[test]
fn a_cleaner_that_is_stopped_leaves_everything_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, compacted());
    append_records(&log, &[keyed("a", "1"), keyed("a", "2")]);
    roll(&log);
    let stopped = cleaner();
    stopped.stop();
    let cleaned = stopped.clean(&log, log.log_end_offset(), NOW).unwrap().unwrap();
    assert!(!cleaned.complete);
    assert_eq!(records(&log).len(), 2);
    assert_eq!(unfinished(&path), [""; 0]);
}

#[test]
fn time_lookups_find_what_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), compacted());
    append_records(&log, &[keyed("a", "1"), keyed("b", "1"), keyed("c", "1")]);
    append_records(&log, &[keyed("b", "2")]);
    clean(&log, NOW);
    let found = |at| log.offset_for_timestamp(TimestampMs(NOW.0 + at), Offset(i64::MAX)).unwrap();
    assert_eq!(found(0).unwrap().offset, Offset(0));
    assert_eq!(found(1).unwrap().offset, Offset(2));
    assert_eq!(log.max_timestamp().unwrap().unwrap().offset, Offset(2));
    assert_eq!(found(3), None);
}
