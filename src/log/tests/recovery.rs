//! Crashes: a log cut or damaged anywhere opens with everything before that place.

use std::fs;

use super::*;

const LOG: &str = "00000000000000000000.log";

/// A closed log of eight batches of two records, and its bytes.
fn written(path: &Path) -> Vec<u8> {
    let log = open(path, settings());
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
        let left = [
            "00000000000000000000.index",
            "00000000000000000000.timeindex",
            "leader-epoch-checkpoint",
        ];
        let (_dir, log) = opened_with(&bytes[..cut], &left, &path);
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
fn a_flipped_bit_anywhere_in_the_tail_cuts_there_and_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = written(&dir.path().join("t-0"));
    let size = bytes.len() / 8;
    for at in 6 * size..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let (_dir, log) = opened_with(&flipped, &[], dir.path());
        let in_batch = (at / size) as i64;
        // Offset and epoch lie outside the CRC: a flip there may only raise them.
        let outside = at % size < 8 || (12..16).contains(&(at % size));
        let end = log.log_end_offset().0;
        assert!(end == in_batch * 2 || (outside && end > in_batch * 2), "byte {at}: {end}");
        assert!(spans(&log).len() as i64 >= in_batch);
    }
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
    type Change = fn(&mut Vec<u8>);
    let changes: [(Change, usize); 4] = [
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
    let opening = Opening { clean: false, recovery_point };
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
    fs::remove_file(path.join("leader-epoch-checkpoint")).unwrap();
    let log = open(&path, settings());
    assert_eq!(log.end_offset_for_epoch(LeaderEpoch(1)), Some((LeaderEpoch(1), Offset(4))));
    assert_eq!(log.end_offset_for_epoch(LeaderEpoch(4)), Some((LeaderEpoch(4), Offset(6))));
}
