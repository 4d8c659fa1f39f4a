//! Records deleted on request: gone for readers at once, on disk for as long as a segment needs them.

use super::*;
use crate::{
    base::ProducerId,
    log::faulty::{Faults, FaultyDisk},
    wire::record_batch::{ControlType, control_batch},
};

fn timestamps(log: &Log, target: i64) -> Option<(i64, i64)> {
    let found = log.offset_for_timestamp(TimestampMs(target), log.log_end_offset()).unwrap();
    found.map(|it| (it.timestamp.0, it.offset.0))
}

fn newest(log: &Log) -> Option<(i64, i64)> {
    log.max_timestamp().unwrap().map(|it| (it.timestamp.0, it.offset.0))
}

#[test]
fn a_start_never_falls_and_never_passes_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    append(&log, &Sent::records(5)).unwrap();
    log.raise_start(Offset(3)).unwrap();
    log.raise_start(Offset(2)).unwrap();
    assert_eq!((log.log_start_offset(), log.start_within_segments()), (Offset(3), Some(Offset(3))));
    for asked in [-1, 6] {
        let error = log.raise_start(Offset(asked)).unwrap_err();
        assert!(matches!(error, LogError::OffsetOutOfRange { .. }), "{error}");
    }
    assert!(matches!(
        log.read(Offset(2), Offset(9), 9, true),
        Err(LogError::OffsetOutOfRange { log_start: Offset(3), .. })
    ));
    assert_eq!(spans(&log), [(0, 4)], "the batch that holds the start is whole");
    assert_eq!(log.earliest_epoch(), Some(LeaderEpoch(0)));
}

#[test]
fn segments_wholly_below_the_start_go_with_retention_whatever_the_policy() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let cleanup_policy = CleanupPolicy { delete: false, compact: true };
    let settings = LogSettings { segment_bytes: 100, cleanup_policy, ..settings() };
    let log = open(&path, settings.clone());
    for _ in 0..4 {
        append(&log, &Sent::records(2)).unwrap();
    }
    log.raise_start(Offset(5)).unwrap();
    assert_eq!(log.retain(NOW).unwrap(), 2);
    assert_eq!(log.segments.load()[0].base_offset, Offset(4));
    log.raise_start(Offset(8)).unwrap();
    assert_eq!(log.retain(NOW).unwrap(), 1);
    assert_eq!(log.segments.load().len(), 1, "the active one stays");
    assert_eq!(log.start_within_segments(), Some(Offset(8)));
    let log = reopen(&path, settings, false, &log);
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(8), Offset(8)));
    let read_to_its_end = Some((LeaderEpoch(0), Offset(8)));
    assert_eq!(log.end_offset_for_epoch(LeaderEpoch(0)), read_to_its_end);
}

#[test]
fn lookups_by_time_find_no_deleted_record() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    append(&log, &Sent::records(3).at(&[100, 900, 300])).unwrap();
    append(&log, &Sent::records(2).at(&[200, 400])).unwrap();
    assert_eq!((timestamps(&log, 150), newest(&log)), (Some((900, 1)), Some((900, 1))));
    log.raise_start(Offset(2)).unwrap();
    assert_eq!((timestamps(&log, 150), newest(&log)), (Some((300, 2)), Some((400, 4))));
    assert_eq!(timestamps(&log, 500), None);
    log.raise_start(Offset(3)).unwrap();
    assert_eq!((timestamps(&log, 150), newest(&log)), (Some((200, 3)), Some((400, 4))));
    log.raise_start(Offset(5)).unwrap();
    assert_eq!((timestamps(&log, 150), newest(&log)), (None, None));
}

#[test]
fn producers_are_known_when_all_of_their_records_are_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, settings());
    let sent = Sent::records(2).by(3, 0, 0);
    append(&log, &sent).unwrap();
    log.raise_start(Offset(2)).unwrap();
    log.retain(NOW).unwrap();
    assert!(append(&log, &sent).unwrap().duplicate);
    let log = reopen(&path, settings(), false, &log);
    assert!(append(&log, &sent).unwrap().duplicate);
    append(&log, &Sent::records(2).by(3, 0, 2)).unwrap();
    assert_eq!(spans(&log), [(2, 3)]);
}

#[test]
fn producers_of_segments_that_are_gone_are_known_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let settings = LogSettings { segment_bytes: 100, ..settings() };
    let log = open(&path, settings.clone());
    let sent = Sent::records(2).by(3, 0, 0);
    append(&log, &sent).unwrap();
    append(&log, &Sent::records(2)).unwrap();
    append(&log, &Sent::records(2)).unwrap();
    log.raise_start(Offset(3)).unwrap();
    assert_eq!(log.retain(NOW).unwrap(), 1);
    let log = reopen(&path, settings, false, &log);
    assert!(append(&log, &sent).unwrap().duplicate);
}

#[test]
fn an_unfinished_route_is_read_below_the_start_and_keeps_its_segment() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let settings = LogSettings { segment_bytes: 100, ..settings() };
    let log = open(&path, settings.clone());
    let sent = Sent::records(3).by(7, 2, 0).batch();
    log.append(vec![control_batch(&sent.header, ControlType::Route, b"to 4")], context()).unwrap();
    append(&log, &Sent::records(2)).unwrap();
    log.raise_start(Offset(5)).unwrap();
    assert_eq!(log.retain(NOW).unwrap(), 0);
    log.route_record(Offset(0)).unwrap();
    let log = reopen(&path, settings, false, &log);
    assert_eq!(log.log_start_offset(), Offset(5));
    assert_eq!(log.unfinished_routes()[0].base_offset, Offset(0));
    log.route_record(Offset(0)).unwrap();

    log.finish_route(ProducerId(7), Offset(0));
    assert_eq!(log.retain(NOW).unwrap(), 1);
    let gone = log.route_record(Offset(0)).unwrap_err();
    assert!(matches!(gone, LogError::OffsetOutOfRange { .. }), "{gone}");
}

#[test]
fn a_start_beyond_what_a_power_cut_left_is_the_end_and_no_offset_is_given_out_twice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, settings());
    append(&log, &Sent::records(4)).unwrap();
    log.raise_start(Offset(3)).unwrap();
    let file = path.join("00000000000000000000.log");
    std::fs::write(&file, b"").unwrap();
    let log = reopen(&path, settings(), false, &log);
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(3), Offset(3)));
    assert_eq!(append(&log, &Sent::records(1)).unwrap().base_offset, Offset(3));
}

#[test]
fn a_start_rises_without_a_wait_for_the_disk_and_a_start_of_the_node_forgets_the_epochs_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let faults = Faults::none();
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(&faults)));
    let opening = Opening::default();
    let log = Log::open_on(disk, path.clone(), Arc::default(), settings(), opening, NOW).unwrap();
    for epoch in 0..3 {
        let context = AppendContext { leader_epoch: LeaderEpoch(epoch), ..context() };
        log.append(vec![Sent::records(2).batch()], context).unwrap();
    }
    log.flush(NOW).unwrap();
    let before = faults.operations();
    log.raise_start(Offset(3)).unwrap();
    assert_eq!(faults.operations(), before);
    assert_eq!(log.earliest_epoch(), Some(LeaderEpoch(1)));
    let log = reopen(&path, settings(), false, &log);
    assert_eq!(log.earliest_epoch(), Some(LeaderEpoch(1)));
    let ended = |log: &Log| log.end_offset_for_epoch(LeaderEpoch(0)).unwrap().1;
    assert_eq!(ended(&log), Offset(3));

    log.raise_start(Offset(6)).unwrap();
    assert_eq!((log.earliest_epoch(), ended(&log)), (Some(LeaderEpoch(2)), Offset(6)));
    let log = reopen(&path, settings(), false, &log);
    assert_eq!((log.earliest_epoch(), ended(&log)), (Some(LeaderEpoch(2)), Offset(6)));
}

#[test]
fn a_flush_of_a_deleted_log_leaves_the_epochs_of_the_next_one_of_its_name_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let old = open(&path, settings());
    append(&old, &Sent::records(2)).unwrap();
    old.delete().unwrap();
    let new = open(&path, settings());
    let moved = old.move_recovery_point(Offset(2));
    assert!(matches!(moved, Err(LogError::Closed(_))), "{moved:?}");
    assert!(!path.join("leader-epoch-checkpoint").exists(), "{}", new.log_end_offset().0);
}

#[test]
fn what_was_deleted_up_to_a_segment_is_not_back_after_a_power_cut() {
    let dir = tempfile::tempdir().unwrap();
    let (path, faults) = (dir.path().join("t-0"), Faults::none());
    let size = Sent::records(2).batch().bytes.len() as u32;
    let settings = LogSettings { segment_bytes: size, ..settings() };
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(&faults)));
    let opening = Opening::default();
    let log =
        Log::open_on(disk, path.clone(), Arc::default(), settings.clone(), opening, NOW).unwrap();
    for _ in 0..5 {
        append(&log, &Sent::records(2)).unwrap();
    }
    log.flush(NOW).unwrap();
    log.raise_start(Offset(6)).unwrap();
    assert_eq!(log.retain(NOW).unwrap(), 3);
    // What the checkpoint says from now on.
    assert_eq!(log.start_within_segments(), None);
    faults.cut_the_power();
    let log = reopen(&path, settings, false, &log);
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(6), Offset(10)));
}
