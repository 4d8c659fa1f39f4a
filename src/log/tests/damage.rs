//! Bytes that changed in a log that was closed cleanly: no record is hidden, no reader waits for ever.

use std::fs;

use super::*;

const LOG: &str = "00000000000000000000.log";
const INDEX: &str = "00000000000000000000.index";
const TIME_INDEX: &str = "00000000000000000000.timeindex";

/// Batches of two records in all segments.
const BATCHES: i64 = 21;

fn small() -> LogSettings {
    LogSettings { segment_bytes: 700, index_interval_bytes: 0, ..settings() }
}

/// A closed log whose first segment has some batches, with rising timestamps: 10 for each offset.
fn closed(path: &Path) -> Vec<Offset> {
    let log = open(path, small());
    for at in 0..BATCHES {
        append(&log, &Sent::records(2).at(&[at * 20, at * 20 + 10])).unwrap();
    }
    log.close().unwrap();
    let bases: Vec<_> = log.segments.load().iter().map(|it| it.base_offset).collect();
    assert!(bases.len() > 2 && bases[1] >= Offset(10), "{bases:?}");
    bases
}

fn flipped(bytes: &[u8], at: usize, mask: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= mask;
    bytes
}

fn assert_finds_everything(log: &Log, what: &str) {
    let want: Vec<_> = (0..BATCHES).map(|at| (at * 2, at * 2 + 1)).collect();
    assert_eq!(spans(log), want, "{what}");
    for offset in 0..BATCHES * 2 {
        let fetched = log.read(Offset(offset), log.log_end_offset(), 1, true).unwrap();
        assert_eq!(fetched.next_offset, Offset(offset / 2 * 2 + 2), "{what}: offset {offset}");
        let found = log.offset_for_timestamp(TimestampMs(offset * 10 - 5), log.log_end_offset());
        assert_eq!(found.unwrap().map(|it| it.offset), Some(Offset(offset)), "{what}");
    }
    let newest = log.max_timestamp().unwrap().map(|it| it.offset);
    assert_eq!(newest, Some(Offset(BATCHES * 2 - 1)), "{what}");
}

#[test]
fn a_flipped_byte_of_an_index_hides_no_record() {
    for name in [INDEX, TIME_INDEX] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        closed(&path);
        let file = path.join(name);
        let whole = fs::read(&file).unwrap();
        assert!(whole.len() > 30);
        for at in 0..whole.len() {
            for mask in [0x01, 0x40, 0x80] {
                let what = format!("{name}: byte {at} ^ {mask}");
                // While the log is open, and before it is opened.
                let log = open_clean(&path, small());
                fs::write(&file, flipped(&whole, at, mask)).unwrap();
                assert_finds_everything(&log, &what);
                drop(log);
                assert_finds_everything(&open_clean(&path, small()), &what);
                fs::write(&file, &whole).unwrap();
            }
        }
    }
}

#[test]
fn an_index_cut_short_hides_no_record() {
    for (name, entry) in [(INDEX, 8), (TIME_INDEX, 12)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        closed(&path);
        let whole = fs::read(path.join(name)).unwrap();
        for kept in (0..whole.len()).step_by(entry) {
            fs::write(path.join(name), &whole[..kept]).unwrap();
            assert_finds_everything(&open_clean(&path, small()), &format!("{name}: {kept} bytes"));
        }
    }
}

/// Reads from the log's start as a consumer does: what it got, and where it was told of damage.
fn consume(log: &Log, max_bytes: usize) -> (Vec<i64>, Option<Offset>) {
    let (mut bases, mut from) = (Vec::new(), Offset(0));
    while from < log.log_end_offset() {
        match log.read(from, log.log_end_offset(), max_bytes, true) {
            Ok(fetched) => {
                assert!(fetched.next_offset > from, "a read below the end goes on");
                bases.extend(fetched.batches().map(|it| it.header.base_offset.0));
                from = fetched.next_offset;
            }
            Err(LogError::CorruptBatch { .. }) => return (bases, Some(from)),
            Err(error) => panic!("{error}"),
        }
    }
    (bases, None)
}

#[test]
fn a_flipped_byte_of_a_header_stalls_no_reader_and_skips_no_batch() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    closed(&path);
    let whole = fs::read(path.join(LOG)).unwrap();
    let size = Sent::records(2).batch().bytes.len();
    let mut errors = 0;
    for damaged in [0, 1, 2] {
        for at in 0..61 {
            for mask in [0x01, 0x04, 0x80] {
                let what = format!("batch {damaged}: byte {at} ^ {mask}");
                fs::write(path.join(LOG), flipped(&whole, damaged * size + at, mask)).unwrap();
                let log = open_clean(&path, small());
                let (first, next) = (damaged as i64 * 2, damaged as i64 * 2 + 2);
                for max_bytes in [1, 2 * size, usize::MAX] {
                    let (bases, error) = consume(&log, max_bytes);
                    let mut others = bases;
                    others.retain(|it| *it < first || *it >= next);
                    let upto = error.map_or(BATCHES * 2, |it| it.0.min(first));
                    let want: Vec<_> = (0..upto).step_by(2).filter(|it| *it != first).collect();
                    assert_eq!(others, want, "{what}, {max_bytes}: {error:?}");
                    assert!(error.is_none_or(|it| [first, next].contains(&it.0)), "{what}");
                    errors += usize::from(error.is_some());
                }
                let behind = log.read(Offset(next + 2), log.log_end_offset(), 1, true).unwrap();
                assert_eq!(behind.next_offset, Offset(next + 4), "{what}");
            }
        }
    }
    assert!(errors > 100, "{errors}");
}

#[test]
fn a_missing_first_segment_is_kept_in_mind() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let bases = closed(&path);
    fs::remove_file(path.join(LOG)).unwrap();
    let log = open_clean(&path, small());
    assert_eq!(log.log_start_offset(), bases[1]);
    assert_eq!(log.log_end_offset(), Offset(BATCHES * 2));
    assert!(path.join(format!("{INDEX}.orphan")).exists());
    assert!(path.join(format!("{TIME_INDEX}.orphan")).exists());
}

/// A clean start of a log that lost the files of its segments' records: where the next record goes.
#[test]
fn a_log_without_its_records_goes_on_at_an_offset_that_nobody_had() {
    let end = Offset(BATCHES * 2);
    for lost in [&["snapshot"][..], &["index", "timeindex"], &[]] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t-0");
        closed(&path);
        for entry in fs::read_dir(&path).unwrap() {
            let file = entry.unwrap().path();
            let extension = file.extension().map_or("", |it| it.to_str().unwrap());
            if extension == "log" || lost.contains(&extension) {
                fs::remove_file(file).unwrap();
            }
        }
        for _ in 0..2 {
            let log = open_clean(&path, small());
            assert_eq!((log.log_start_offset(), log.log_end_offset()), (end, end), "{lost:?}");
        }
        let log = open_clean(&path, small());
        let again = append(&log, &Sent::records(1)).unwrap();
        assert_eq!(again.base_offset, end);
    }
}

#[test]
fn a_recovery_point_beyond_the_records_is_an_offset_that_was_given_out() {
    let dir = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let opening = Opening { recovery_point: Offset(70), ..Opening::default() };
    let path = dir.path().join("t-0");
    let log = Log::open_on(disk, path, Arc::<Health>::default(), settings(), opening, NOW).unwrap();
    assert_eq!(append(&log, &Sent::records(1)).unwrap().base_offset, Offset(70));
}

#[test]
fn a_damaged_header_hides_producers_behind_it_and_no_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, small());
    for at in 0..21 {
        append(&log, &Sent::records(2).by(9, 0, at * 2)).unwrap();
    }
    log.close().unwrap();
    let mut bytes = fs::read(path.join(LOG)).unwrap();
    bytes[Sent::records(2).batch().bytes.len() + 16] ^= 1;
    fs::write(path.join(LOG), bytes).unwrap();
    for entry in fs::read_dir(&path).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|it| it == "snapshot") {
            fs::remove_file(file).unwrap();
        }
    }

    let log = open_clean(&path, small());

    assert_eq!(log.log_end_offset(), Offset(42));
    assert!(append(&log, &Sent::records(2).by(9, 0, 40)).unwrap().duplicate, "known from behind");
    assert!(!append(&log, &Sent::records(2).by(9, 0, 42)).unwrap().duplicate);
}
