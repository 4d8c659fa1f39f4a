//! Deleting from the front.

use rustix::io::Errno;

use super::*;
use crate::log::faulty::{Fault, Faults, FaultyDisk};

fn old_log(path: &Path, settings: LogSettings) -> Log {
    let log = open(path, LogSettings { segment_bytes: 300, ..settings });
    for at in 0..9 {
        append(&log, &Sent::records(2).by(3, 0, at * 2)).unwrap();
    }
    log
}

#[test]
fn old_segments_go_and_their_files_after_a_delay() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = old_log(&path, LogSettings { retention_bytes: 500, ..settings() });

    let deleted = log.retain(NOW).unwrap();

    assert!(deleted > 0);
    assert!(log.log_start_offset() > Offset(0));
    assert_eq!(spans(&log)[0].0, log.log_start_offset().0);
    let renamed = |path: &Path| {
        let files =
            path.read_dir().unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        files.filter(|it| it.ends_with(".deleted")).count()
    };
    assert_eq!(renamed(&path), deleted * 3);
    log.retain(TimestampMs(NOW.0 + 59_999)).unwrap();
    assert_eq!(renamed(&path), deleted * 3);
    log.retain(TimestampMs(NOW.0 + 60_000)).unwrap();
    assert_eq!(renamed(&path), 0);
}

#[test]
fn a_log_that_loses_everything_keeps_its_end_and_its_producers_over_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = old_log(&path, LogSettings { retention_ms: 1_000, ..settings() });
    log.retain(TimestampMs(NOW.0 + 2_000)).unwrap();
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(18), Offset(18)));
    assert_eq!(log.size_bytes(), 0);
    for clean in [false, true] {
        let log = if clean { open_clean(&path, settings()) } else { open(&path, settings()) };
        assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(18), Offset(18)));
        assert!(append(&log, &Sent::records(2).by(3, 0, 16)).unwrap().duplicate);
        log.close().unwrap();
    }
}

#[test]
fn a_read_that_runs_outlives_the_segment() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let immediately = LogSettings { retention_bytes: 300, file_delete_delay_ms: 0, ..settings() };
    let log = old_log(&path, immediately);
    let segment = Arc::clone(&log.segments.load()[0]);
    log.retain(NOW).unwrap();
    log.retain(NOW).unwrap();
    assert!(!path.join("00000000000000000000.log.deleted").exists());
    assert!(segment.locate(Offset(1)).unwrap().is_some());
}

#[test]
fn a_reader_of_a_deleted_log_never_meets_the_one_made_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = old_log(&path, settings());
    let segments = log.segments.load_full();
    // As idle ones are: the file is opened again when it is read.
    for segment in segments.iter() {
        segment.close_files();
    }
    log.delete().unwrap();
    let new = open(&path, settings());
    append(&new, &Sent::records(1)).unwrap();
    for segment in segments.iter() {
        assert!(segment.locate(segment.base_offset).is_err());
    }
    drop(new);
    let new = open(&path, settings());
    assert_eq!(new.log_end_offset(), Offset(1), "nor leaves files in it");
}

#[test]
fn records_without_a_time_do_not_roll_a_segment() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    append(&log, &Sent::records(1).at(&[-1])).unwrap();
    append(&log, &Sent::records(1).at(&[NOW.0])).unwrap();
    assert_eq!(log.segments.load().len(), 1);
}

#[test]
fn an_old_active_segment_rolls_by_the_clock() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), LogSettings { segment_ms: 1_000, ..settings() });
    append(&log, &Sent::records(1)).unwrap();
    log.retain(TimestampMs(NOW.0 + 1_000)).unwrap();
    assert_eq!(log.segments.load().len(), 1);
    log.retain(TimestampMs(NOW.0 + 1_001)).unwrap();
    assert_eq!(log.segments.load().len(), 2);
}

#[test]
fn a_segment_goes_though_a_file_of_it_was_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, LogSettings { segment_bytes: 100, ..settings() });
    for _ in 0..3 {
        append(&log, &Sent::records(2)).unwrap();
    }
    log.flush(NOW).unwrap();
    for segment in log.segments.load().iter() {
        segment.close_files();
    }
    std::fs::remove_file(path.join("00000000000000000000.timeindex")).unwrap();
    log.raise_start(Offset(2)).unwrap();
    assert_eq!(log.retain(NOW).unwrap(), 1);
}

#[test]
fn logs_of_one_age_roll_apart_within_the_jitter() {
    let settings = LogSettings { segment_ms: 1_000, segment_jitter_ms: 500, ..settings() };
    let dir = tempfile::tempdir().unwrap();
    let open = |at: i32| open(&dir.path().join(format!("t-{at}")), settings.clone());
    let logs: Vec<_> = (0..40).map(open).collect();
    for log in &logs {
        append(log, &Sent::records(1)).unwrap();
    }
    let rolled = |now_ms| {
        for log in &logs {
            log.retain(TimestampMs(NOW.0 + now_ms)).unwrap();
        }
        logs.iter().filter(|it| it.segments.load().len() == 2).count()
    };
    assert_eq!(rolled(500), 0);
    assert!((1..40).contains(&rolled(750)));
    assert_eq!(rolled(1_001), 40);
}

#[test]
fn a_full_disk_gets_room_from_what_retention_takes() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Faults::none();
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(&faults)));
    let settings = LogSettings {
        segment_bytes: 300,
        segment_ms: 1_000,
        retention_ms: 1_000,
        file_delete_delay_ms: 0,
        ..settings()
    };
    let (path, opening) = (dir.path().join("t-0"), Opening::default());
    let log = Log::open_on(disk, path, Arc::default(), settings, opening, NOW).unwrap();
    for _ in 0..9 {
        append(&log, &Sent::records(2)).unwrap();
    }
    log.flush(NOW).unwrap();
    // The active segment is too old, and there is no room for another one.
    let later = TimestampMs(NOW.0 + 5_000);
    faults.fail_next(Fault::Refused(Errno::NOSPC));
    assert!(log.retain(later).is_err());
    assert!(log.is_online());
    assert_eq!(log.segments.load().len(), 1);
    assert_eq!(log.retain(later).unwrap(), 1);
    assert_eq!((log.size_bytes(), log.log_start_offset()), (0, Offset(18)));
}
