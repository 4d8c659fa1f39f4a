//! Slices: the bytes that a read would give, found without reading them.

use std::{fs, os::fd::AsFd, os::unix::net::UnixStream};

use proptest::{collection::vec, prelude::*};
use rustix::io::Errno;

use super::*;
use crate::log::{
    LogSlice, NotAtHand,
    faulty::{Fault, Faults, FaultyDisk},
};

const LOG: &str = "00000000000000000000.log";

/// A log with batches of so many records each, and their sizes.
fn log_of(path: &Path, counts: &[(usize, usize)], settings: LogSettings) -> (Log, Vec<usize>) {
    let log = open(path, settings);
    let sizes = counts.iter().map(|&(records, value_bytes)| {
        let sent = Sent { value_bytes, ..Sent::records(records) };
        append(&log, &sent).unwrap();
        sent.batch().bytes.len()
    });
    let sizes = sizes.collect();
    (log, sizes)
}

fn bytes(slice: Option<&LogSlice>) -> Vec<u8> {
    slice.map_or_else(Vec::new, |it| it.read().unwrap().to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Twice each, so that the marks of the first read serve the second.
    #[test]
    fn a_slice_is_what_a_read_gives_and_all_that_fits(
        counts in vec((1_usize..4, 0_usize..300), 1..40),
        asked in vec((0_i64..80, 0_i64..90, 0_usize..6_000, any::<bool>()), 1..20),
        index_interval_bytes in 0_u32..1_000,
        segment_bytes in prop_oneof![Just(3_000_u32), Just(1 << 20)],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let settings = LogSettings { segment_bytes, index_interval_bytes, ..settings() };
        let (log, sizes) = log_of(&dir.path().join("t-0"), &counts, settings);
        for (from, ceiling, max_bytes, at_least_one) in asked.iter().chain(&asked).copied() {
            let (from, ceiling) = (Offset(from), Offset(ceiling));
            let Ok(slice) = log.slice(from, ceiling, max_bytes, at_least_one) else {
                prop_assert!(from > log.log_end_offset());
                continue;
            };
            let read = log.read(from, ceiling, max_bytes, at_least_one).unwrap();
            prop_assert_eq!(&bytes(slice.as_ref())[..], &read.records[..]);
            if let Ok(at_hand) = log.slice_at_hand(from, ceiling, max_bytes) {
                prop_assert_eq!(&bytes(at_hand.as_ref())[..], &read.records[..]);
            }
            // The next batch was left out for a reason.
            let batches = spans(&log);
            let taken = read.batches().count();
            let next = batches.iter().position(|it| it.1 >= from.0).unwrap_or(sizes.len()) + taken;
            if let Some(&(base, last)) = batches.get(next) {
                let rolls = log.segments.load().iter().any(|it| it.base_offset.0 == base);
                let fits = read.records.len() + sizes[next] <= max_bytes || (taken == 0 && at_least_one);
                prop_assert!(last >= ceiling.0 || !fits || (rolls && taken > 0), "{from:?} {ceiling:?}");
            }
        }
    }
}

#[test]
fn a_reader_that_follows_the_log_finds_what_is_new_at_hand() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = log_of(&dir.path().join("t-0"), &[(2, 10); 50], settings());
    let read = |from: Offset| log.slice_at_hand(from, log.log_end_offset(), 1 << 20);
    assert!(matches!(read(Offset(0)), Err(NotAtHand)), "where it begins nobody was before");
    log.slice(Offset(0), log.log_end_offset(), 1 << 20, true).unwrap();
    for _ in 0..40 {
        let from = log.log_end_offset();
        assert!(read(from).unwrap().is_none());
        append(&log, &Sent::records(3)).unwrap();
        let slice = read(from).unwrap().unwrap();
        assert_eq!(slice.len(), Sent::records(3).batch().bytes.len());
    }
    let nothing = log.slice_at_hand(Offset(100), log.log_end_offset(), 10);
    assert!(matches!(nothing, Err(NotAtHand)), "more than fits");
}

#[test]
fn a_slice_of_many_small_batches_is_found_without_reading_them() {
    let dir = tempfile::tempdir().unwrap();
    let faults = Faults::none();
    let settings = LogSettings { index_interval_bytes: 4096, ..settings() };
    let opening = Opening::default();
    let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(&faults)));
    let path = dir.path().join("t-0");
    let log = Log::open_on(disk, path, Arc::<Health>::default(), settings, opening, NOW).unwrap();
    for _ in 0..5_000 {
        append(&log, &Sent { value_bytes: 100, ..Sent::records(1) }).unwrap();
    }
    for (from, max_bytes) in [(0, 1 << 20), (0, 500_000), (2_345, 200_000), (4_000, 100)] {
        faults.take_read();
        let slice = log.slice(Offset(from), log.log_end_offset(), max_bytes, true).unwrap();
        assert!(slice.unwrap().len() + 200 > max_bytes || max_bytes == 1 << 20);
        let read = faults.take_read();
        assert!(read < 64 * 1024, "{from}, {max_bytes}: {read} bytes");
    }
}

#[test]
fn what_is_on_its_way_outlives_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = log_of(&dir.path().join("t-0"), &[(2, 10); 5], settings());
    let slice = log.slice(Offset(0), Offset(10), 1 << 20, true).unwrap().unwrap();
    let before = slice.read().unwrap();
    log.delete().unwrap();
    assert_eq!(slice.read().unwrap(), before);
}

/// Batches of the segment that is damaged.
const BATCHES: usize = 12;

/// Flips each byte of the headers of some batches, in turn, in a segment behind which there is another; the batches have
/// one size and two records each.
fn with_each_header_byte_flipped(check: impl Fn(&Log, usize, i64, &str)) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let size = Sent::records(2).batch().bytes.len();
    let segment_bytes = (BATCHES * size) as u32;
    let settings = LogSettings { index_interval_bytes: 0, segment_bytes, ..settings() };
    let (log, sizes) = log_of(&path, &[(2, 10); BATCHES + 2], settings.clone());
    assert_eq!(log.segments.load().len(), 2);
    log.close().unwrap();
    for damaged in [0, 5, BATCHES - 1] {
        for at in 0..61 {
            for mask in [0x01, 0x04, 0x80] {
                // What is damaged may be mended when it is opened.
                let copy = tempfile::tempdir().unwrap();
                for entry in path.read_dir().unwrap().map(Result::unwrap) {
                    fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
                }
                let mut bytes = fs::read(path.join(LOG)).unwrap();
                bytes[damaged * sizes[0] + at] ^= mask;
                fs::write(copy.path().join(LOG), bytes).unwrap();
                let log = open_clean(copy.path(), settings.clone());
                let what = format!("batch {damaged}: byte {at} ^ {mask}");
                check(&log, sizes[0], damaged as i64, &what);
            }
        }
    }
}

#[test]
fn a_damaged_batch_that_is_asked_for_is_told_as_by_a_read() {
    with_each_header_byte_flipped(|log, _, damaged, what| {
        let (from, end) = (Offset(damaged * 2), log.log_end_offset());
        for max_bytes in [1, 300, usize::MAX] {
            let (slice, read) =
                (log.slice(from, end, max_bytes, true), log.read(from, end, max_bytes, true));
            assert_eq!(slice.is_err(), read.is_err(), "{what}, {max_bytes}");
        }
    });
}

#[test]
fn nothing_beyond_the_ceiling_is_in_a_slice_whatever_is_damaged() {
    with_each_header_byte_flipped(|log, size, damaged, what| {
        for ceiling in 1..=BATCHES as i64 {
            let slice = log.slice(Offset(0), Offset(ceiling * 2), usize::MAX, true);
            let len = slice.ok().flatten().map_or(0, |it| it.len());
            assert!(len <= size * ceiling as usize, "{what}, {ceiling}: {len}");
            // Damage further on takes nothing from what lies before it.
            assert!(
                damaged < ceiling || len == size * ceiling as usize,
                "{what}, {ceiling}: {len}"
            );
        }
    });
}

#[test]
fn what_a_file_has_lost_is_neither_sent_nor_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let (log, sizes) = log_of(&path, &[(2, 10); 3], settings());
    let slice = log.slice(Offset(0), Offset(6), 1 << 20, true).unwrap().unwrap();
    fs::OpenOptions::new().write(true).open(path.join(LOG)).unwrap().set_len(100).unwrap();
    let (socket, _peer) = UnixStream::pair().unwrap();
    assert_eq!(slice.send_to(socket.as_fd(), 0, 1 << 20).unwrap(), 100);
    assert_eq!(slice.send_to(socket.as_fd(), 100, 1 << 20).unwrap(), 0);
    assert!(slice.read().is_err() && slice.load(0, 3 * sizes[0]).is_err());
    assert!(!slice.is_cached(0, 3 * sizes[0]));
}

#[test]
fn a_disk_that_fails_under_a_slice_takes_its_directory_offline_and_a_socket_does_not() {
    let send = |slice: &LogSlice| {
        let (here, _there) = UnixStream::pair().unwrap();
        slice.send_to(here.as_fd(), 0, slice.len()).map(drop)
    };
    let read = |slice: &LogSlice| slice.read().map(drop);
    let load = |slice: &LogSlice| slice.load(0, slice.len());
    for errno in [Errno::IO, Errno::PIPE] {
        for use_it in [&send as &dyn Fn(&LogSlice) -> std::io::Result<()>, &read, &load] {
            let dir = tempfile::tempdir().unwrap();
            let faults = Faults::none();
            let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(&faults)));
            let (path, opening) = (dir.path().join("t-0"), Opening::default());
            let log = Log::open_on(disk, path, Arc::default(), settings(), opening, NOW).unwrap();
            append(&log, &Sent::records(3)).unwrap();
            let slice = log.slice(Offset(0), Offset(3), 1, true).unwrap().unwrap();
            faults.fail_next(Fault::Refused(errno));
            assert!(use_it(&slice).is_err());
            assert_eq!(log.is_online(), errno != Errno::IO);
        }
    }
}
