//! What a failing disk leaves behind.

use super::*;
use crate::log::faulty::{Faults, FaultyDisk};

fn open_faulty(dir: &Path, faults: &Arc<Faults>) -> Log {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(faults)));
    let opening = Opening { clean: false, recovery_point: Offset(0) };
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

        faults.fill_disk_after(usize::MAX);
        append(&log, &Sent::records(2)).unwrap();
        assert_eq!(spans(&log), [(0, 1), (2, 3)]);
        drop(log);
        assert_eq!(spans(&open(&path, settings())), [(0, 1), (2, 3)]);
    }
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
    assert!(!log.health.is_online());
}
