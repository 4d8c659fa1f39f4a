//! Crashes: a log cut or damaged anywhere opens with everything before that place.

use std::fs;

use super::*;
use crate::log::faulty::{Fault, Faults, FaultyDisk};

const LOG: &str = "00000000000000000000.log";

/// A log of eight batches of two records with an index of each, and its bytes.
fn written(path: &Path) -> Vec<u8> {
    let log = open(path, LogSettings { index_interval_bytes: 0, ..settings() });
    for at in 0..8 {
        append(&log, &Sent::records(2).by(9, 0, at * 2)).unwrap();
    }
    drop(log);
    fs::read(path.join(LOG)).unwrap()
}

/// Opens a folder that holds these bytes, and the files that a crash may leave beside them.
fn opened_with(bytes: &[u8], left: &[&str], from: &Path) -> (tempfile::TempDir, Log) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    fs::create_dir(&path).unwrap();
    for name in left {
        let _ = fs::copy(from.join(name), path.join(name));
    }
    fs::write(path.join(LOG), bytes).unwrap();
    let log = open(&path, settings());
    (dir, log)
}

#[test]
fn a_log_cut_at_every_byte_keeps_every_whole_batch() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let bytes = written(&path);
    let size = bytes.len() / 8;
    for cut in (0..size).step_by(16).chain(5 * size..=bytes.len()) {
        let (_dir, log) = opened_with(&bytes[..cut], &["leader-epoch-checkpoint"], &path);
        let whole = (cut / size) as i64;
        assert_eq!(log.log_end_offset(), Offset(whole * 2), "cut at {cut}");
        if cut % 37 == 0 {
            let want: Vec<_> = (0..whole).map(|at| (at * 2, at * 2 + 1)).collect();
            assert_eq!(spans(&log), want);
            let next = i32::try_from(whole * 2).unwrap();
            assert!(!append(&log, &Sent::records(2).by(9, 0, next)).unwrap().duplicate);
        }
    }
}

#[test]
fn what_a_power_cut_took_leaves_a_gap_where_the_index_knows_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let bytes = written(&path);
    let size = bytes.len() / 8;
    for cut in [0, 30, 2 * size, 5 * size + 7] {
        let (dir, log) = opened_with(&bytes[..cut], &["00000000000000000000.index"], &path);
        let whole = cut / size;
        assert_eq!(log.log_end_offset(), Offset(16), "cut at {cut}");
        // A consumer comes to the end, where nothing of a producer is.
        let mut want: Vec<_> = (0..whole).map(|at| at as i64 * 2).collect();
        want.push(15);
        assert_eq!(consumed(&log), want, "cut at {cut}");
        assert!(
            log.read(Offset(15), Offset(16), 1, true)
                .unwrap()
                .batches()
                .all(|it| it.control().is_some())
        );
        let appended = append(&log, &Sent::records(2)).unwrap();
        assert_eq!(appended.base_offset, Offset(16), "no other record's offset");
        want.push(16);
        log.close().unwrap();
        for clean in [false, true] {
            let path = dir.path().join("t-0");
            let log = if clean { open_clean(&path, settings()) } else { open(&path, settings()) };
            assert_eq!(consumed(&log), want, "cut at {cut}");
        }
    }
}

/// Base offsets of what a consumer gets from the start to the end.
fn consumed(log: &Log) -> Vec<i64> {
    spans(log).into_iter().map(|it| it.0).collect()
}

#[test]
fn a_flipped_bit_anywhere_costs_its_batch_and_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = written(&dir.path().join("t-0"));
    let size = bytes.len() / 8;
    for at in 5 * size..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let (_dir, log) = opened_with(&flipped, &[], dir.path());
        let (batch, byte) = (at / size, at % size);
        let found = consumed(&log);
        let before: Vec<_> = (0..batch).map(|it| it as i64 * 2).collect();
        assert_eq!(found[..batch], before, "byte {at}");
        // Offset and epoch lie outside the CRC: a flip there may only raise them.
        if byte < 8 || (12..16).contains(&byte) {
            continue;
        }
        // Where a batch does not tell its length, nobody knows where the next one begins.
        let is_length_known = byte >= 17;
        let behind: Vec<_> = (batch + 1..8).map(|it| it as i64 * 2).collect();
        let want = if is_length_known { &behind[..] } else { &[] };
        assert_eq!(&found[batch..], want, "byte {at}");
    }
}

type Change = fn(&mut [u8]);

#[test]
fn good_batches_behind_a_damaged_one_are_kept_and_the_damaged_one_is_set_aside() {
    let source = tempfile::tempdir().unwrap();
    let path = source.path().join("t-0");
    let bytes = written(&path);
    let size = bytes.len() / 8;
    // Its length, which the index makes up for; its records; everything; the zeros of a lost page.
    let kinds: [(Change, &[usize]); 4] = [
        (|it| it[8] = 0x7f, &[3]),
        (|it| it[70] ^= 1, &[3]),
        (|it| it.rotate_left(1), &[3]),
        (|it| it.fill(0), &[3, 4]),
    ];
    for (change, batches) in kinds {
        let mut changed = bytes.clone();
        let (first, last) = (batches[0], batches[batches.len() - 1]);
        change(&mut changed[first * size..(last + 1) * size]);
        let (dir, log) = opened_with(&changed, &["00000000000000000000.index"], &path);
        let want: Vec<_> =
            (0..8).filter(|it| !batches.contains(it)).map(|it| it as i64 * 2).collect();
        assert_eq!(log.log_end_offset(), Offset(16));
        assert_eq!(consumed(&log), want);
        let folder = dir.path().join("t-0");
        drop(log);
        let log = open(&folder, settings());
        assert_eq!(consumed(&log), want, "after a kill");
        log.close().unwrap();
        assert_eq!(consumed(&open_clean(&folder, settings())), want, "after a clean stop");
        let aside = folder.join(format!("{LOG}.{}.damaged", first * size));
        let want = &changed[first * size..(last + 1) * size];
        assert_eq!(fs::read(aside).unwrap(), want, "and no good one with it");
    }
}

#[test]
fn a_record_that_looks_like_a_batch_is_never_taken_for_one() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = written(&dir.path().join("t-0"));
    let size = bytes.len() / 8;
    // A value that is a whole batch, in a batch that was torn.
    let mut torn = bytes[..3 * size].to_vec();
    let mut outer = bytes[3 * size..4 * size].to_vec();
    outer[8..12].copy_from_slice(&9_999_u32.to_be_bytes());
    torn.extend(outer);
    torn.extend(&bytes[5 * size..6 * size]);
    let (_dir, log) = opened_with(&torn, &[], dir.path());
    assert_eq!(log.log_end_offset(), Offset(6));
}

#[test]
fn garbage_behind_the_end_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = written(&dir.path().join("t-0"));
    for garbage in [vec![0; 5_000], vec![0xff; 5_000], bytes[..200].to_vec()] {
        let mut file = bytes.clone();
        file.extend(garbage);
        let (_dir, log) = opened_with(&file, &[], dir.path());
        assert_eq!(log.log_end_offset(), Offset(16));
        append(&log, &Sent::records(1)).unwrap();
        assert_eq!(spans(&log).len(), 9);
    }
}

#[test]
fn damaged_companions_are_built_anew() {
    let source = tempfile::tempdir().unwrap();
    let path = source.path().join("t-0");
    written(&path);
    let log = open(&path, settings());
    log.close().unwrap();
    drop(log);
    for name in [
        "00000000000000000000.index",
        "00000000000000000000.timeindex",
        "leader-epoch-checkpoint",
        "00000000000000000016.snapshot",
    ] {
        for damage in [None, Some(vec![]), Some(vec![0xff; 61]), Some(vec![0; 8])] {
            match damage {
                None => fs::remove_file(path.join(name)).unwrap(),
                Some(bytes) => fs::write(path.join(name), bytes).unwrap(),
            }
            let log = open_clean(&path, settings());
            assert_eq!(log.log_end_offset(), Offset(16), "{name}");
            assert_eq!(spans(&log).len(), 8, "{name}");
            assert!(append(&log, &Sent::records(2).by(9, 0, 14)).unwrap().duplicate, "{name}");
            assert_eq!(log.latest_epoch(), Some(LeaderEpoch(0)), "{name}");
            log.close().unwrap();
        }
    }
}

/// A log of segments with one or two batches of two records, where the second file was changed; its base offsets.
fn with_second_segment(path: &Path, change: fn(&mut Vec<u8>)) -> Vec<Offset> {
    let log = open(path, LogSettings { segment_bytes: 200, ..settings() });
    for _ in 0..9 {
        append(&log, &Sent::records(2)).unwrap();
    }
    let bases: Vec<_> = log.segments.load().iter().map(|it| it.base_offset).collect();
    assert!(bases.len() > 3);
    drop(log);
    let second = path.join(format!("{:020}.log", bases[1].0));
    let mut bytes = fs::read(&second).unwrap();
    change(&mut bytes);
    fs::write(&second, bytes).unwrap();
    bases
}

fn damaged_files(path: &Path) -> usize {
    let names = fs::read_dir(path).unwrap().map(|it| it.unwrap().file_name());
    names.filter(|it| it.to_str().unwrap().ends_with(".damaged")).count()
}

#[test]
fn segments_behind_a_damaged_one_are_kept_and_what_was_cut_is_set_aside() {
    type ChangeFile = fn(&mut Vec<u8>);
    let changes: [(ChangeFile, usize); 4] = [
        (|it| it[70] ^= 1, 1),
        (|it| it[16] = 9, 1),
        (Vec::clear, 0),
        (|it| it.truncate(it.len() - 3), 0),
    ];
    for (change, set_aside) in changes {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        let bases = with_second_segment(&path, change);

        let log = open(&path, settings());

        assert_eq!(log.log_end_offset(), Offset(18));
        assert_eq!(damaged_files(&path), set_aside);
        let behind = spans(&log).iter().filter(|it| it.0 >= bases[2].0).count() as i64;
        assert_eq!(behind * 2, 18 - bases[2].0);
        append(&log, &Sent::records(2)).unwrap();
        drop(log);
        assert_eq!(open(&path, settings()).log_end_offset(), Offset(20));
    }
}

#[test]
fn garbage_behind_a_whole_segment_costs_no_record() {
    for clean in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        with_second_segment(&path, |it| it.extend([7; 100]));
        let log = if clean { open_clean(&path, settings()) } else { open(&path, settings()) };
        assert_eq!(spans(&log).len(), 9);
    }
}

#[test]
fn recovery_begins_at_the_recovery_point() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, LogSettings { segment_bytes: 200, ..settings() });
    for _ in 0..9 {
        append(&log, &Sent::records(2)).unwrap();
    }
    assert_eq!(log.recovery_point(), Offset(0));
    log.retain(NOW).unwrap();
    let recovery_point = log.recovery_point();
    assert_eq!(recovery_point, log.active().base_offset);
    drop(log);
    // Damage before the point is not looked for (and is found by whoever reads it); what follows is.
    let mut bytes = fs::read(path.join(LOG)).unwrap();
    bytes[70] ^= 1;
    fs::write(path.join(LOG), bytes).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let opening = Opening { recovery_point, ..Opening::default() };
    let log = Log::open_on(disk, path.clone(), Arc::<Health>::default(), settings(), opening, NOW)
        .unwrap();
    assert_eq!(log.log_end_offset(), Offset(18));
}

#[test]
fn leader_epochs_come_back_from_the_batches() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, settings());
    for epoch in [1, 1, 4] {
        let context = AppendContext { leader_epoch: LeaderEpoch(epoch), ..context() };
        log.append(vec![Sent::records(2).batch()], context).unwrap();
    }
    drop(log);
    assert!(!path.join("leader-epoch-checkpoint").exists(), "no append waited for it");
    let log = open(&path, settings());
    assert_eq!(log.end_offset_for_epoch(LeaderEpoch(1)), Some((LeaderEpoch(1), Offset(4))));
    assert_eq!(log.end_offset_for_epoch(LeaderEpoch(4)), Some((LeaderEpoch(4), Offset(6))));
}

#[test]
fn a_kill_while_a_damaged_log_is_recovered_loses_nothing_more() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let mut bytes = written(&path);
    let size = bytes.len() / 8;
    // A length beyond the end: without the index all behind it would look like a torn tail.
    bytes[2 * size + 8..2 * size + 12].copy_from_slice(&(1_i32 << 20).to_be_bytes());
    fs::write(path.join(LOG), bytes).unwrap();
    for recovery_point in [0, 16] {
        check_kills(&path, recovery_point);
    }
}

fn check_kills(path: &Path, recovery_point: i64) {
    let opening = Opening { recovery_point: Offset(recovery_point), ..Opening::default() };
    for operations in 0.. {
        let copy = tempfile::tempdir().unwrap();
        for entry in path.read_dir().unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
        let faults = Faults::at(operations, Fault::Crash);
        let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(faults));
        let path = copy.path().to_owned();
        let open =
            |disk| Log::open_on(disk, path.clone(), Arc::default(), settings(), opening, NOW);
        let was_killed = open(disk).is_err();
        let log = open(Arc::new(RealDisk)).unwrap();
        assert_eq!(consumed(&log), [0, 2, 6, 8, 10, 12, 14], "killed in {operations}");
        if !was_killed {
            assert!(operations > 20, "{operations}");
            break;
        }
    }
}
