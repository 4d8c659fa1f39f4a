//! What a failing disk leaves behind.

use super::*;
use crate::log::faulty::{Faults, FaultyDisk};

fn open_faulty(dir: &Path, faults: &Arc<Faults>) -> Log {
    open_faulty_from(dir, faults, Opening::default())
}

fn open_faulty_from(dir: &Path, faults: &Arc<Faults>, opening: Opening) -> Log {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(faults)));
    Log::open_on(disk, dir.to_owned(), Arc::<Health>::default(), settings(), opening, NOW).unwrap()
}

#[test]
fn a_full_disk_at_any_byte_loses_only_the_batch_that_did_not_fit() {
    let size = Sent::records(2).batch().bytes.len();
    for room in 0..size {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        let faults = Faults::none();
        let log = open_faulty(&path, &faults);
        append(&log, &Sent::records(2)).unwrap();

        faults.fill_disk_after(room);
        let error = append(&log, &Sent::records(2)).unwrap_err();
        assert!(matches!(error, LogError::Storage { action: "append to", .. }), "{error}");
        assert_eq!(log.log_end_offset(), Offset(2));
        assert!(!log.is_online());

        faults.fill_disk_after(usize::MAX);
        assert!(matches!(append(&log, &Sent::records(2)), Err(LogError::Offline(_))));
        drop(log);
        let log = open(&path, settings());
        assert_eq!(spans(&log), [(0, 1)]);
        append(&log, &Sent::records(2)).unwrap();
        assert_eq!(spans(&log), [(0, 1), (2, 3)]);
    }
}

#[test]
fn a_new_epochs_first_append_fsyncs_nothing_and_no_crash_forgets_the_epoch() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let faults = Faults::none();
    let log = open_faulty(&path, &faults);
    let append_under = |epoch| {
        let context = AppendContext { leader_epoch: LeaderEpoch(epoch), ..context() };
        log.append(vec![Sent::records(2).batch()], context).unwrap();
    };
    append_under(1);
    assert_eq!(faults.take_synced(), Vec::<std::path::PathBuf>::new());
    log.roll(&mut log.writer.lock(), NOW).unwrap();
    log.retain(NOW).unwrap();
    assert!(faults.take_synced().iter().any(|it| it.starts_with(&path)), "it is flushed");
    append_under(2);
    assert_eq!(faults.take_synced(), Vec::<std::path::PathBuf>::new());
    let recovery_point = log.recovery_point();
    drop(log);

    let log = open_faulty_from(&path, &faults, Opening { recovery_point, ..Opening::default() });
    assert_eq!(recovery_point, Offset(2), "the first segment is believed, with its epoch");
    assert_eq!(log.end_offset_for_epoch(LeaderEpoch(1)), Some((LeaderEpoch(1), Offset(2))));
    assert_eq!(log.end_offset_for_epoch(LeaderEpoch(2)), Some((LeaderEpoch(2), Offset(4))));
}

#[test]
fn short_writes_are_carried_on() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Faults::none();
    faults.shorten_writes_to(7);
    let log = open_faulty(&dir.path().join("t-0"), &faults);
    log.append(vec![Sent::records(2).batch(), Sent::records(1).batch()], context()).unwrap();
    assert_eq!(spans(&log), [(0, 1), (2, 2)]);
    assert!(read_all(&log).batches().all(|it| it.header.crc == crc32c::crc32c(&it.bytes[21..])));
}

#[test]
fn a_failed_append_that_cannot_be_undone_takes_the_log_offline() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let faults = Faults::none();
    let log = open_faulty(&path, &faults);
    append(&log, &Sent::records(1)).unwrap();
    faults.fill_disk_after(30);
    faults.fail_truncate();
    append(&log, &Sent::records(1)).unwrap_err();

    faults.fill_disk_after(usize::MAX);
    assert!(matches!(append(&log, &Sent::records(1)), Err(LogError::Offline(_))));
    assert_eq!(spans(&log), [(0, 0)], "reads go on");
    drop(log);
    assert_eq!(spans(&open(&path, settings())), [(0, 0)]);
}

#[test]
fn a_failed_fsync_takes_the_directory_offline() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Faults::none();
    let log = open_faulty(&dir.path().join("t-0"), &faults);
    append(&log, &Sent::records(1)).unwrap();
    faults.fail_fsync();
    assert!(matches!(log.close(), Err(LogError::Storage { action: "fsync", .. })));
    assert!(!log.home().health.is_online());
}

/// A log that was stopped with a segment half full, started again and appended to.
fn second_life(path: &Path, faults: &Arc<Faults>) -> Log {
    let log = open_faulty(path, faults);
    append(&log, &Sent::records(2)).unwrap();
    log.close().unwrap();
    let opening =
        Opening { clean: true, recovery_point: log.recovery_point(), ..Opening::default() };
    let log = open_faulty_from(path, faults, opening);
    append(&log, &Sent::records(2)).unwrap();
    faults.take_synced();
    log
}

#[test]
fn a_segment_that_was_active_at_a_stop_is_fsynced_again_for_what_came_later() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let first = path.join("00000000000000000000.log");
    let faults = Faults::none();
    second_life(&path, &faults).close().unwrap();
    assert!(faults.take_synced().contains(&first), "by the next clean stop");

    std::fs::remove_dir_all(&path).unwrap();
    let log = second_life(&path, &faults);
    log.set_settings(LogSettings { segment_ms: 0, ..settings() });
    append(&log, &Sent::records(1).at(&[NOW.0 + 9])).unwrap();
    assert_eq!(log.segments.load().len(), 2);
    log.retain(NOW).unwrap();
    assert!(faults.take_synced().contains(&first), "after a roll");
    assert_eq!(log.recovery_point(), Offset(4));
}

#[test]
fn a_want_of_files_refuses_what_it_must_and_takes_nothing_offline() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Faults::none();
    let log = open_faulty(&dir.path().join("t-0"), &faults);
    append(&log, &Sent::records(2)).unwrap();
    // Idle files are closed by the second call.
    for _ in 0..2 {
        faults.open_files.close_idle();
    }

    faults.run_out_of_files(true);
    let error = append(&log, &Sent::records(2)).unwrap_err();
    assert!(matches!(error, LogError::Storage { action: "open", .. }), "{error}");
    let late = TimestampMs(NOW.0 + i64::from(u32::MAX) * 1000);
    log.set_settings(LogSettings { retention_ms: 1, ..settings() });
    log.retain(late).unwrap_err();
    assert!(log.home().health.is_online());
    assert_eq!(log.log_start_offset(), Offset(0), "what could not be deleted is still there");

    faults.run_out_of_files(false);
    append(&log, &Sent::records(2)).unwrap();
    assert_eq!(spans(&log), [(0, 1), (2, 3)]);
}

#[test]
fn a_clean_start_reads_a_small_part_of_a_large_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, LogSettings { index_interval_bytes: 0, ..settings() });
    for at in 0..8_000 {
        append(&log, &Sent::records(1).at(&[at])).unwrap();
    }
    log.close().unwrap();
    let files = std::fs::read_dir(&path).unwrap();
    let size: u64 = files.map(|it| it.unwrap().metadata().unwrap().len()).sum();
    let faults = Faults::none();
    let clean = Opening { clean: true, recovery_point: log.recovery_point(), ..Opening::default() };
    let again = open_faulty_from(&path, &faults, clean);
    assert_eq!(again.log_end_offset(), Offset(8_000));
    let read = faults.take_read() as u64;
    assert!(read > 0 && read * 10 < size, "{read} of {size} bytes");
}
