//! Offsets, timestamps and segments of appends.

use super::*;

#[test]
fn batches_get_offsets_and_epoch_in_place_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    let sent = Sent::records(3).batch();
    let context = AppendContext { leader_epoch: LeaderEpoch(7), ..context() };

    assert_eq!(log.append(vec![sent.clone()], context).unwrap().base_offset, Offset(0));
    let second = log.append(vec![sent.clone(), sent.clone()], context).unwrap();

    assert_eq!((second.base_offset, second.last_offset), (Offset(3), Offset(8)));
    assert_eq!(spans(&log), [(0, 2), (3, 5), (6, 8)]);
    for batch in read_all(&log).batches() {
        assert_eq!(batch.header.partition_leader_epoch, LeaderEpoch(7));
        assert_eq!(batch.header.crc, crc32c::crc32c(&batch.bytes[21..]));
        assert_eq!(batch.bytes[16..], sent.bytes[16..], "the rest is as received");
    }
}

#[test]
fn log_append_time_replaces_the_timestamp_and_the_crc() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    let stamped = AppendContext { timestamp_type: TimestampType::LogAppendTime, ..context() };

    let appended = log.append(vec![Sent::records(2).at(&[5, 6]).batch()], stamped).unwrap();

    assert_eq!(appended.log_append_time, Some(NOW));
    let batch = read_all(&log).batches().next().unwrap();
    assert_eq!(batch.header.max_timestamp, NOW);
    assert_eq!(batch.header.attributes.timestamp_type(), TimestampType::LogAppendTime);
    assert_eq!(batch.header.crc, crc32c::crc32c(&batch.bytes[21..]));
}

#[test]
fn a_batch_larger_than_a_segment_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), LogSettings { segment_bytes: 100, ..settings() });
    let large = Sent { value_bytes: 200, ..Sent::records(1) };
    assert!(matches!(append(&log, &large), Err(LogError::RecordListTooLarge { .. })));
    assert_eq!(log.log_end_offset(), Offset(0));
}

#[test]
fn a_segment_rolls_by_size_age_and_full_index() {
    let small = LogSettings { segment_bytes: 200, ..settings() };
    let aged = LogSettings { segment_ms: 10, ..settings() };
    let indexed = LogSettings { segment_index_bytes: 24, index_interval_bytes: 0, ..settings() };
    for settings in [small, aged, indexed] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        let log = open(&path, settings);
        for at in 0..10 {
            append(&log, &Sent::records(1).at(&[NOW.0 + at * 6])).unwrap();
        }
        assert!(log.segments.load().len() > 2);
        let want: Vec<_> = (0..10).map(|at| (at, at)).collect();
        assert_eq!(spans(&log), want);
        drop(log);
        assert_eq!(spans(&open(&path, self::settings())), want, "after a restart");
    }
}

#[test]
fn reads_stop_at_the_ceiling_and_at_the_size_but_not_before_one_batch() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    for _ in 0..4 {
        append(&log, &Sent::records(2)).unwrap();
    }
    let one = Sent::records(2).batch().bytes.len();
    for (from, ceiling, max_bytes, at_least_one, want) in [
        (0, 8, usize::MAX, true, 4),
        (0, 4, usize::MAX, true, 2),
        (3, 8, usize::MAX, true, 3),
        (0, 8, 2 * one, true, 2),
        (0, 8, 2 * one - 1, true, 1),
        (0, 8, 1, true, 1),
        (0, 8, 1, false, 0),
        (8, 8, usize::MAX, true, 0),
        (4, 2, usize::MAX, true, 0),
    ] {
        let fetched = log.read(Offset(from), Offset(ceiling), max_bytes, at_least_one).unwrap();
        assert_eq!(
            fetched.records.len(),
            want * one,
            "{from} {ceiling} {max_bytes} {at_least_one}"
        );
    }
    for outside in [-1, 9] {
        let error = log.read(Offset(outside), Offset(8), 1, true).unwrap_err();
        assert!(matches!(error, LogError::OffsetOutOfRange { .. }));
    }
}

#[test]
fn a_closed_log_takes_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    append(&log, &Sent::records(1)).unwrap();
    log.close().unwrap();
    assert!(matches!(append(&log, &Sent::records(1)), Err(LogError::Closed(_))));
    assert_eq!(spans(&log), [(0, 0)], "reads go on");
}

#[test]
fn a_deleted_log_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    append(&log, &Sent::records(1)).unwrap();
    log.delete().unwrap();
    assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    assert!(matches!(append(&log, &Sent::records(1)), Err(LogError::Closed(_))));
}
