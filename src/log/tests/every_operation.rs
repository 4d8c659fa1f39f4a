//! A scripted life of a log directory, in which every single operation on its files fails in turn: refused, half done, or the last
//! one of the process. After each, what was acknowledged is there, once and in order.

use super::*;
use crate::{
    base::{BrokerId, TopicId, TopicPartition},
    log::{
        LogDir,
        faulty::{Fault, Faults, FaultyDisk},
    },
};
use rustix::io::Errno;

/// Later by more than `file.delete.delay.ms`.
const LATER: TimestampMs = TimestampMs(NOW.0 + 120_000);

/// What a client of the script was told, and what became of the directory.
#[derive(Default)]
struct Outcome {
    /// Offsets of acknowledged records, by their number.
    acked: Vec<(i64, Offset)>,
    failures: usize,
    next: i64,
}

fn topic() -> (TopicPartition, TopicId) {
    (TopicPartition::new("t", 0), TopicId(uuid::Uuid::from_u128(9)))
}

/// Two records fill a segment, and retention keeps some four of them.
fn small_segments(flush_messages: i64) -> LogSettings {
    let two = 2 * numbered(0).bytes.len() as u32;
    LogSettings {
        segment_bytes: two,
        retention_bytes: i64::from(2 * two),
        index_interval_bytes: 0,
        flush_messages,
        preallocate: true,
        ..settings()
    }
}

/// A record that its timestamp tells from others, of an idempotent producer.
fn numbered(number: i64) -> Batch {
    let sequence = i32::try_from(number).unwrap();
    Sent::records(1).by(7, 0, sequence).at(&[NOW.0 + number]).batch()
}

impl Outcome {
    fn note<T>(&mut self, result: Result<T, LogError>) -> Option<T> {
        result.inspect_err(|_| self.failures += 1).ok()
    }

    /// Appends until the log takes no more; as a producer does, once more what was refused.
    fn produce(&mut self, log: &Log, count: usize) {
        for _ in 0..count {
            let (number, before) = (self.next, self.failures);
            let mut appended = self.note(log.append(vec![numbered(number)], context()));
            if appended.is_none() && log.is_online() {
                appended = self.note(log.append(vec![numbered(number)], context()));
                assert!(appended.is_some(), "a log that stays online takes it at the second try");
            }
            let Some(appended) = appended else {
                assert!(self.failures > before && !log.is_online());
                let refused = log.append(vec![numbered(number)], context());
                assert!(matches!(refused, Err(LogError::Offline(_))));
                return;
            };
            if !log.wants_flush() || self.note(log.commit()).is_some() {
                assert!(log.stored_end() > appended.base_offset, "an acknowledged record counts");
                self.acked.push((number, appended.base_offset));
            }
            self.next += 1;
        }
    }

    /// Opens the directory and its log, works with them, and tells whether they were closed.
    fn live(&mut self, root: &Path, faults: &Arc<Faults>, settings: &LogSettings) -> bool {
        let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(faults)));
        let dir =
            LogDir::open_on(disk, root, BrokerId(1)).and_then(|dir| dir.claim("c").map(|()| dir));
        let Some(dir) = self.note(dir) else { return false };
        let (partition, id) = topic();
        let open = || dir.open_log(&partition, id, settings.clone(), NOW);
        let mut log = self.note(open());
        if log.is_none() && dir.health.is_online() {
            log = self.note(open());
        }
        let Some(log) = log else { return false };
        self.produce(&log, 5);
        self.note(log.flush(NOW));
        self.note(log.retain(NOW));
        self.note(
            dir.store_recovery_points(|| vec![(partition.clone(), Some(log.recovery_point()))]),
        );
        self.produce(&log, 4);
        self.note(log.retain(LATER));
        if self.note(log.close()).is_none() {
            return false;
        }
        self.note(dir.store_recovery_points(|| vec![(partition, Some(log.recovery_point()))]));
        self.note(dir.mark_clean()).is_some()
    }

    /// The script: two lives, the second of a directory that was closed cleanly.
    fn of(root: &Path, faults: &Arc<Faults>, settings: &LogSettings) -> Self {
        let mut outcome = Self::default();
        if outcome.live(root, faults, settings) {
            outcome.live(root, faults, settings);
        }
        outcome
    }

    fn check(&self, root: &Path) {
        // A disk without faults, and without the time that an fsync takes.
        let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Faults::none()));
        let dir = LogDir::open_on(disk, root, BrokerId(1)).unwrap();
        let (partition, id) = topic();
        let log = dir.open_log(&partition, id, small_segments(i64::MAX), NOW).unwrap();
        let stored = records(&log);
        assert!(stored.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "once, in order: {stored:?}");
        let start = log.log_start_offset();
        for it in self.acked.iter().filter(|it| it.1 >= start) {
            assert!(stored.contains(it), "{it:?} in {stored:?}");
        }
        let newest: Vec<_> = self.acked.iter().rev().take(3).collect();
        assert!(newest.iter().all(|it| it.1 >= start), "retention leaves the newest");
        if let Some(&(number, offset)) = self.acked.last() {
            let again = log.append(vec![numbered(number)], context());
            let is_known = again.is_ok_and(|it| it.duplicate && it.base_offset == offset);
            let is_newest = stored.last() == Some(&(number, offset));
            assert!(is_known || !is_newest, "a retry is known");
        }
        let end = append(&log, &Sent::records(1)).unwrap().base_offset;
        assert!(stored.iter().all(|it| it.1 < end), "no offset is given out twice");
    }
}

/// Number and offset of each record of data.
fn records(log: &Log) -> Vec<(i64, Offset)> {
    let (mut found, mut from) = (Vec::new(), log.log_start_offset());
    while from < log.log_end_offset() {
        let fetched = log.read(from, log.log_end_offset(), usize::MAX, true).unwrap();
        let data = fetched.batches().filter(|it| !it.header.attributes.is_control());
        found.extend(data.map(|it| (it.header.max_timestamp.0 - NOW.0, it.header.base_offset)));
        from = fetched.next_offset;
    }
    found
}

/// Every operation fails by `fault`, one a run.
fn each_fails(fault: Fault, flush_messages: i64) {
    let settings = small_segments(flush_messages);
    let root = tempfile::tempdir().unwrap();
    let faults = Faults::none();
    let whole = Outcome::of(root.path(), &faults, &settings);
    assert_eq!((whole.failures, whole.acked.len()), (0, 18), "the script is good");
    whole.check(root.path());
    for operation in 0..faults.operations() {
        let root = tempfile::tempdir().unwrap();
        let faults = Faults::at(operation, fault);
        let outcome = Outcome::of(root.path(), &faults, &settings);
        if fault == Fault::Crash && flush_messages == 1 {
            faults.cut_the_power();
        }
        outcome.check(root.path());
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_any_operation_that_the_disk_refuses() {
    each_fails(Fault::Refused(Errno::IO), i64::MAX);
}

#[test]
fn nothing_acknowledged_is_lost_by_a_disk_that_is_full_at_any_operation() {
    each_fails(Fault::Short, i64::MAX);
}

#[test]
fn nothing_acknowledged_is_lost_by_a_process_that_ends_at_any_operation() {
    each_fails(Fault::Crash, i64::MAX);
}

#[test]
fn what_waited_for_its_fsync_survives_a_power_cut_at_any_operation() {
    each_fails(Fault::Crash, 1);
    each_fails(Fault::Refused(Errno::IO), 1);
}
