//! A kill at any change of the disk, while a log is cleaned.

use std::sync::Arc;

use super::{
    mortal::{Life, MortalDisk},
    *,
};
use crate::log::{Health, file::Disk, recovery::Opening};

/// Two groups of segments, each with something to leave out, and an active one.
fn written(path: &Path, life: &Arc<Life>) -> Log {
    let disk: Arc<dyn Disk> = Arc::new(MortalDisk(Arc::clone(life)));
    let settings = LogSettings { segment_bytes: 400, ..compacted() };
    let opening = Opening::default();
    let health = Arc::<Health>::default();
    let log = Log::open_on(disk, path.to_owned(), health, settings, opening, NOW).unwrap();
    for at in 0..8 {
        let records = [keyed("a", &at.to_string()), keyed(&at.to_string(), "kept")];
        append(&log, by(builder(Compression::None, &records), 7, at * 2));
        append_records(&log, &[tombstone("b")]);
        roll(&log);
    }
    append_records(&log, &[keyed("c", "active")]);
    log.flush_sealed().unwrap();
    log
}

/// What is left once everything is clean.
fn want() -> Vec<(i64, Keyed)> {
    let mut want: Vec<_> = (0..8).map(|at| (at * 3 + 1, keyed(&at.to_string(), "kept"))).collect();
    want.extend([(21, keyed("a", "7")), (23, tombstone("b")), (24, keyed("c", "active"))]);
    want.sort_by_key(|it| it.0);
    want
}

/// Kills the cleaner after so many changes, and starts again; whether it was killed at all.
fn killed_after(changes: usize, recovery: fn(&Log) -> Opening) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let life = Life::without_end();
    let log = written(&path, &life);
    let opening = recovery(&log);
    life.end_after(changes);
    let was_killed = cleaner().clean(&log, log.log_end_offset(), NOW).is_err();
    drop(log);

    let disk: Arc<dyn Disk> = Arc::new(crate::log::file::RealDisk);
    let health = Arc::<Health>::default();
    let log = Log::open_on(disk, path.clone(), health, compacted(), opening, NOW).unwrap();

    let left = records(&log);
    assert!(want().iter().all(|it| left.contains(it)), "nothing that is to stay is lost");
    assert!(left.iter().zip(left.iter().skip(1)).all(|(a, b)| a.0 < b.0), "in order, and once");
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(0), Offset(25)));
    assert_eq!(unfinished(&path), [""; 0]);
    let again = by(builder(Compression::None, &[keyed("a", "7"), keyed("7", "kept")]), 7, 14);
    assert!(log.append(vec![again], context()).unwrap().duplicate);

    cleaner().clean(&log, log.log_end_offset(), NOW).unwrap().unwrap();
    assert_eq!(records(&log), want());
    was_killed
}

#[test]
fn a_kill_at_any_step_of_a_round_loses_nothing_and_leaves_nothing_behind() {
    let from_the_start: fn(&Log) -> Opening = |_| Opening::default();
    let from_the_point: fn(&Log) -> Opening =
        |log| Opening { recovery_point: log.recovery_point(), ..Opening::default() };
    for recovery in [from_the_start, from_the_point] {
        let mut changes = 0;
        while killed_after(changes, recovery) {
            changes += 1;
        }
        assert!(changes > 40, "{changes} changes");
    }
}

#[test]
fn a_swap_that_cannot_be_finished_takes_the_log_offline_for_appends_until_a_start_does() {
    let mut offline = 0;
    for changes in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        let life = Life::without_end();
        let log = written(&path, &life);
        life.end_after(changes);
        if cleaner().clean(&log, log.log_end_offset(), NOW).is_ok() {
            break;
        }
        life.end_after(usize::MAX);
        let left = records(&log);
        assert!(want().iter().all(|it| left.contains(it)), "reads go on");
        let more = builder(Compression::None, &[keyed("d", "more")]).build().unwrap();
        match log.append(vec![more], context()) {
            Err(LogError::Offline(_)) => offline += 1,
            appended => assert_eq!(appended.unwrap().base_offset, Offset(25)),
        }
    }
    assert!(offline > 10, "{offline}");
}

#[test]
fn a_damaged_cleaned_segment_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    drop(written(&path, &Life::without_end()));
    std::fs::write(path.join("00000000000000000000.log.swap"), b"no batch at all").unwrap();
    std::fs::write(path.join("00000000000000000000.index.swap"), b"").unwrap();
    let log = open(&path, compacted());
    assert_eq!(records(&log).len(), 25);
    let names = names(&path);
    assert!(names.contains(&"00000000000000000000.log.swap.0.damaged".to_owned()), "{names:?}");
    assert_eq!(unfinished(&path), [""; 0]);
}
