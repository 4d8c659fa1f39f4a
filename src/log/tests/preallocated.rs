//! A log whose segments take their room at once.

use rustix::io::Errno;

use super::*;
use crate::log::faulty::{Fault, Faults, FaultyDisk};

fn preallocating() -> LogSettings {
    LogSettings { preallocate: true, segment_bytes: 4_096, ..settings() }
}

fn length(dir: &Path, base: i64) -> u64 {
    std::fs::metadata(dir.join(format!("{base:020}.log"))).unwrap().len()
}

#[test]
fn a_segment_has_its_room_until_it_is_sealed_or_closed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, preallocating());
    assert_eq!(length(&path, 0), 4_096);
    while log.segments.load().len() < 2 {
        append(&log, &Sent::records(2)).unwrap();
    }
    let first = Arc::clone(&log.segments.load()[0]);
    let second = log.active().base_offset.0;
    assert_eq!((length(&path, 0), length(&path, second)), (first.size(), 4_096));
    log.close().unwrap();
    assert_eq!(length(&path, second), log.active().size());
    assert_eq!(spans(&open_clean(&path, preallocating())), spans(&log));
}

#[test]
fn after_a_kill_unused_room_is_no_damage_and_a_torn_batch_in_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, preallocating());
    append(&log, &Sent::records(2)).unwrap();
    let size = log.active().size();
    drop(log);
    let again = open(&path, preallocating());
    assert_eq!((spans(&again), length(&path, 0)), (vec![(0, 1)], size));
    let checked = Recovery { segments: 1, bytes_checked: size, bytes_cut: 0 };
    assert_eq!(again.recovery(), checked);
    assert_eq!(append(&again, &Sent::records(1)).unwrap().base_offset, Offset(2));
    drop(again);

    let file = std::fs::OpenOptions::new().write(true).open(path.join(format!("{:020}.log", 0)));
    let torn = Sent { value_bytes: 1_500, ..Sent::records(1) }.batch().bytes;
    let end = length(&path, 0);
    let file = file.unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &torn[..torn.len() / 2], end).unwrap();
    file.set_len(4_096).unwrap();
    let again = open(&path, preallocating());
    assert_eq!(spans(&again), [(0, 1), (2, 2)]);
    assert_eq!((again.active().size(), again.recovery().bytes_cut), (end, 4_096 - end));
    let names = std::fs::read_dir(&path).unwrap().map(|it| it.unwrap().file_name());
    let aside = |it: std::ffi::OsString| it.to_string_lossy().ends_with(".damaged");
    assert!(!names.into_iter().any(aside), "it is what a crash leaves");
}

#[test]
fn a_segment_that_could_not_be_made_is_not_found_by_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let (path, faults) = (dir.path().join("t-0"), Faults::none());
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(&faults)));
    let (opening, settings) =
        (Opening::default(), LogSettings { segment_bytes: 40_960, ..preallocating() });
    let log =
        Log::open_on(disk, path.clone(), Arc::default(), settings.clone(), opening, NOW).unwrap();
    append(&log, &Sent { value_bytes: 30_000, ..Sent::records(1) }).unwrap();
    let large = Sent { value_bytes: 35_000, ..Sent::records(1) };
    let mut refused = 0;
    // The system is short of memory in each operation of a roll, in turn; the last of them takes room.
    for operations in 0.. {
        let segments = log.segments.load().len();
        faults.fail_after(operations, Fault::Refused(Errno::NOMEM));
        refused += usize::from(append(&log, &large).is_err());
        faults.fail_no_more();
        // It has room where the large one had not.
        append(&log, &Sent::records(1)).unwrap();
        if log.segments.load().len() > segments {
            break;
        }
    }
    assert!(refused > 3, "{refused}");
    let want = spans(&log);
    assert_eq!(spans(&open(&path, settings)), want);
}
