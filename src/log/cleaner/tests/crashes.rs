//! A kill, or a failure, at any operation on the disk while a log is cleaned.

use std::{fs, sync::Arc};

use rustix::io::Errno;

use super::*;
use crate::{
    log::{
        Health,
        cleaner::output::CleanedSegment,
        faulty::{Fault, Faults, FaultyDisk},
        file::Disk,
        recovery::Opening,
    },
    wire::record_batch::BatchHeader,
};

fn open_on(faults: &Arc<Faults>, path: &Path, settings: LogSettings, opening: Opening) -> Log {
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(faults)));
    Log::open_on(disk, path.to_owned(), Arc::<Health>::default(), settings, opening, NOW).unwrap()
}

/// Two groups of segments, each with something to leave out, and an active one.
fn written(path: &Path, faults: &Arc<Faults>) -> Log {
    let settings = LogSettings { segment_bytes: 400, ..compacted() };
    let log = open_on(faults, path, settings, Opening::default());
    for at in 0..8 {
        let records = [keyed("a", &at.to_string()), keyed(&at.to_string(), "kept")];
        append(&log, by(builder(Compression::None, &records), 7, at * 2));
        append_records(&log, &[tombstone("b")]);
        roll(&log);
    }
    append_records(&log, &[keyed("c", "active")]);
    log.flush(NOW).unwrap();
    log
}

/// What is left once everything is clean.
fn want() -> Vec<(i64, Keyed)> {
    let mut want: Vec<_> = (0..8).map(|at| (at * 3 + 1, keyed(&at.to_string(), "kept"))).collect();
    want.extend([(21, keyed("a", "7")), (23, tombstone("b")), (24, keyed("c", "active"))]);
    want.sort_by_key(|it| it.0);
    want
}

/// Kills the cleaner in the operation after so many, perhaps by a power cut, and starts again; whether it came so far.
fn killed_after(operations: usize, recovery: fn(&Log) -> Opening, is_power_cut: bool) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let faults = Faults::none();
    let log = written(&path, &faults);
    let opening = recovery(&log);
    faults.fail_after(operations, Fault::Crash);
    let was_killed = cleaner().clean(&log, log.log_end_offset(), NOW).is_err();
    drop(log);
    if is_power_cut {
        faults.cut_the_power();
    }

    let log = open_on(&Faults::none(), &path, compacted(), opening);

    check_nothing_is_lost(&log, &path);
    let again = by(builder(Compression::None, &[keyed("a", "7"), keyed("7", "kept")]), 7, 14);
    assert!(log.append(vec![again], context()).unwrap().duplicate);

    cleaner().clean(&log, log.log_end_offset(), NOW).unwrap().unwrap();
    assert_eq!(records(&log), want());
    was_killed
}

fn check_nothing_is_lost(log: &Log, path: &Path) {
    let left = records(log);
    assert!(want().iter().all(|it| left.contains(it)), "nothing that is to stay is lost");
    assert!(left.iter().zip(left.iter().skip(1)).all(|(a, b)| a.0 < b.0), "in order, and once");
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(0), Offset(25)));
    assert_eq!(unfinished(path), [""; 0]);
}

/// The bytes with some bits of what CRCs cover flipped, or cut short. `seed` tells which.
fn damaged(bytes: &[u8], seed: usize) -> Vec<Vec<u8>> {
    let mut begins = vec![0];
    while let Ok(header) = BatchHeader::parse(&bytes[*begins.last().unwrap()..]) {
        begins.push(begins.last().unwrap() + header.size_bytes());
    }
    let is_covered = |at: &usize| begins.iter().all(|it| !(*it..it + 17).contains(at));
    let flips = (seed % 83..bytes.len()).step_by(83).filter(is_covered).map(|at| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1 << (seed % 8);
        bytes
    });
    let cuts = (seed % 211..bytes.len()).step_by(211).chain(begins.iter().copied());
    let cuts = cuts.filter(|it| *it < bytes.len()).map(|it| bytes[..it].to_vec());
    flips.chain(cuts).collect()
}

#[test]
fn a_damaged_swap_gives_way_to_what_it_was_made_from_wherever_a_kill_came() {
    let mut tried = 0;
    for operations in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let (path, faults) = (dir.path().join("t-0"), Faults::none());
        let log = written(&path, &faults);
        faults.fail_after(operations, Fault::Crash);
        let was_killed = cleaner().clean(&log, log.log_end_offset(), NOW).is_err();
        drop(log);
        let swap = names(&path).into_iter().find(|it| it.ends_with(".log.swap"));
        for bytes in
            swap.iter().flat_map(|it| damaged(&fs::read(path.join(it)).unwrap(), operations))
        {
            let copy = tempfile::tempdir().unwrap();
            for name in names(&path) {
                fs::copy(path.join(&name), copy.path().join(&name)).unwrap();
            }
            fs::write(copy.path().join(swap.as_ref().unwrap()), bytes).unwrap();
            check_nothing_is_lost(&open(copy.path(), compacted()), copy.path());
            tried += 1;
        }
        if !was_killed {
            break;
        }
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn a_kill_at_any_step_of_a_round_loses_nothing_and_leaves_nothing_behind() {
    let from_the_start: fn(&Log) -> Opening = |_| Opening::default();
    let from_the_point: fn(&Log) -> Opening =
        |log| Opening { recovery_point: log.recovery_point(), ..Opening::default() };
    for (recovery, is_power_cut) in
        [(from_the_start, false), (from_the_point, false), (from_the_point, true)]
    {
        let mut operations = 0;
        while killed_after(operations, recovery, is_power_cut) {
            operations += 1;
        }
        assert!(operations > 100, "{operations} operations");
    }
}

/// A round in which the operation after so many is refused, if it came so far, and the log.
fn refused_after(operations: usize, errno: Errno, path: &Path) -> Option<(bool, Log)> {
    let faults = Faults::none();
    let log = written(path, &faults);
    let planned = faults.operations() + operations;
    faults.fail_after(operations, Fault::Refused(errno));
    let is_cleaned = cleaner().clean(&log, log.log_end_offset(), NOW).is_ok();
    (faults.operations() > planned).then_some((is_cleaned, log))
}

#[test]
fn a_round_that_is_refused_anything_leaves_a_log_that_goes_on() {
    for (first, errno) in [(0, Errno::MFILE), (1, Errno::NOSPC), (2, Errno::NOSPC)] {
        let mut refused = 0;
        for operations in (first..).step_by(3) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("t-0");
            let Some((is_cleaned, log)) = refused_after(operations, errno, &path) else { break };
            refused += usize::from(!is_cleaned);
            assert!(log.is_online());
            let left = records(&log);
            assert!(want().iter().all(|it| left.contains(it)), "reads go on");
            assert_eq!(append_records(&log, &[keyed("d", "more")]), Offset(25), "and appends");
            if !log.is_uncleanable() {
                cleaner().clean(&log, log.log_end_offset(), NOW).unwrap();
                assert_eq!(records(&log), with_more(), "and so does cleaning, {operations}");
            }
            drop(log);
            let log = open(&path, compacted());
            cleaner().clean(&log, log.log_end_offset(), NOW).unwrap();
            assert_eq!(records(&log), with_more());
            assert_eq!(unfinished(&path), [""; 0]);
        }
        assert!(refused > 12, "{refused}");
    }
}

fn with_more() -> Vec<(i64, Keyed)> {
    let mut want = want();
    want.push((25, keyed("d", "more")));
    want
}

#[test]
fn a_disk_with_room_for_one_segment_can_be_cleaned() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Faults::none();
    let path = dir.path().join("t-0");
    let log = open_on(&faults, &path, compacted(), Opening::default());
    for at in 0..8 {
        let lasting = (format!("{at}"), Some("x".repeat(900)));
        append_records(&log, &[keyed("same", &"y".repeat(900)), lasting]);
        roll(&log);
    }
    log.flush(NOW).unwrap();
    faults.fill_disk_after(1_100);
    let cleaned = cleaner().clean(&log, log.log_end_offset(), NOW).unwrap().unwrap();
    assert!(cleaned.complete);
    assert_eq!(records(&log).len(), 8 + 1);
    log.retain(TimestampMs(NOW.0 + 60_000)).unwrap();
    assert!(faults.room() > 6_000, "{}", faults.room());

    faults.fill_disk_after(10);
    append_with_room(&faults, &log);
    let refused = cleaner().clean(&log, log.log_end_offset(), NOW).unwrap_err();
    assert!(refused.is_want_of_room() && log.is_online(), "{refused}");
    assert!(log.is_left_alone(NOW) && !log.is_uncleanable());
    assert!(!log.is_left_alone(TimestampMs(NOW.0 + 60_000)), "there may be room then");
    assert!(!log.is_left_alone(TimestampMs(NOW.0 - 1)), "whatever the clock does");
}

/// Something to clean, though the disk is full.
fn append_with_room(faults: &Faults, log: &Log) {
    let room = faults.room();
    faults.fill_disk_after(usize::MAX);
    append_records(log, &[keyed("same", "newer")]);
    roll(log);
    faults.fill_disk_after(room);
}

#[test]
fn a_disk_that_fails_the_cleaner_takes_its_directory_offline() {
    let mut failed = 0;
    for operations in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        let Some((is_cleaned, log)) = refused_after(operations, Errno::IO, &path) else { break };
        // What fails and is of no consequence, as an entry of an index, is not told.
        assert!(is_cleaned || !log.is_online(), "operation {operations}");
        failed += usize::from(!is_cleaned);
    }
    assert!(failed > 50, "{failed}");
}

#[test]
fn a_log_that_was_deleted_gets_no_file_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let log = written(&dir.path().join("t-0"), &Faults::none());
    log.delete().unwrap();
    let created = CleanedSegment::create(&log, &log.segments.load_full(), 500).map(drop);
    assert!(matches!(created, Err(LogError::Closed(_))), "{created:?}");
}

#[tokio::test]
async fn what_is_sealed_while_a_round_begins_supersedes_nothing_yet() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Faults::none();
    let path = dir.path().join("t-0");
    let log = Arc::new(open_on(&faults, &path, compacted(), Opening::default()));
    append_records(&log, &[keyed("a", "on disk")]);
    roll(&log);
    append_records(&log, &[keyed("a", "not on disk yet")]);
    let end = log.log_end_offset();

    faults.hold_fsyncs(true);
    let cleaned = Arc::clone(&log);
    let cleaning = tokio::task::spawn_blocking(move || cleaner().clean(&cleaned, end, NOW));
    faults.fsync_began().await;
    roll(&log);
    append_records(&log, &[keyed("b", "active")]);
    faults.hold_fsyncs(false);
    cleaning.await.unwrap().unwrap();

    assert_eq!(records(&log).first(), Some(&(0, keyed("a", "on disk"))));
}

#[test]
fn many_segments_become_one_with_few_files_open() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Faults::none();
    let log = open_on(&faults, &dir.path().join("t-0"), compacted(), Opening::default());
    for at in 0..20 {
        append_records(&log, &[keyed("same", &at.to_string())]);
        roll(&log);
    }
    log.flush(NOW).unwrap();
    for segment in log.segments.load().iter() {
        segment.close_files();
    }
    faults.take_most_open();
    clean(&log, NOW);
    assert_eq!(log.segments.load().len(), 2);
    let most = faults.take_most_open();
    assert!(most < 12, "{most} files");
}

#[test]
fn a_damaged_cleaned_segment_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    drop(written(&path, &Faults::none()));
    std::fs::write(path.join("00000000000000000000.log.swap"), b"no batch at all").unwrap();
    std::fs::write(path.join("00000000000000000000.index.swap"), b"").unwrap();
    let log = open(&path, compacted());
    assert_eq!(records(&log).len(), 25);
    let names = names(&path);
    assert!(names.contains(&"00000000000000000000.log.swap.0.damaged".to_owned()), "{names:?}");
    assert_eq!(unfinished(&path), [""; 0]);
}
