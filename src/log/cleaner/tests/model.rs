//! Any sequence of appends, rolls, rounds, kills, restarts and retention agrees with a list of all that was ever appended.
//!
//! `KLAMM_CLEANINGS=N` tries N sequences instead of a few.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{
    log::{
        Health, ProducerCheck,
        faulty::{Fault, Faults, FaultyDisk},
        file::Disk,
        recovery::Opening,
    },
    wire::record_batch::BatchHeader,
};

#[derive(Clone, Debug)]
enum Step {
    /// Records by key; no value is a tombstone.
    Append {
        records: Vec<(u8, Option<u8>)>,
        codec: u8,
        producer: Option<u8>,
    },
    Control {
        kind: u8,
        producer: u8,
    },
    Roll,
    /// With memory for few keys or many; killed in the operation after so many, if at all.
    Clean {
        later_ms: i64,
        is_small: bool,
        killed_after: Option<usize>,
    },
    /// Without and with a clean stop.
    Start {
        clean: bool,
    },
    Retain,
    /// Records below it are deleted on request.
    RaiseStart(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let records = vec((0_u8..6, proptest::option::weighted(0.75, any::<u8>())), 1..5);
    let producer = proptest::option::of(0_u8..3);
    prop_oneof![
        8 => (records, 0_u8..5, producer)
            .prop_map(|(records, codec, producer)| Step::Append { records, codec, producer }),
        2 => (0_u8..3, 0_u8..3).prop_map(|(kind, producer)| Step::Control { kind, producer }),
        3 => Just(Step::Roll),
        4 => (0_i64..700, any::<bool>(), proptest::option::weighted(0.3, 0_usize..400)).prop_map(
            |(later_ms, is_small, killed_after)| Step::Clean { later_ms, is_small, killed_after }
        ),
        1 => any::<bool>().prop_map(|clean| Step::Start { clean }),
        1 => Just(Step::Retain),
        1 => (0_i64..60).prop_map(Step::RaiseStart),
    ]
}

struct Appended {
    record: Keyed,
    timestamp: i64,
    /// A tombstone: when it may go, once a round has looked at it.
    may_go_at: Option<TimestampMs>,
}

struct Model {
    /// By offset.
    appended: BTreeMap<i64, Appended>,
    /// The newest batch of each producer, with its final offsets, and the sequence that comes next.
    producers: HashMap<u8, (BatchHeader, i32)>,
    /// Where the newest batch is a route record, by producer.
    routes: HashMap<u8, Offset>,
    /// Below it a round may have left something out, perhaps one that was killed before it could note how far it came.
    looked_at: Offset,
    end: i64,
}

/// A log, the faults of its disk, and what is known of it.
struct Run {
    path: std::path::PathBuf,
    settings: LogSettings,
    faults: Arc<Faults>,
    log: Log,
    model: Model,
    now: TimestampMs,
}

impl Run {
    fn new(path: &Path, settings: LogSettings) -> Self {
        let faults = Faults::none();
        let log = Self::opened(path, &settings, &faults, Opening::default());
        let (appended, end) = (BTreeMap::new(), 0);
        let (producers, routes) = (HashMap::new(), HashMap::new());
        let model = Model { appended, producers, routes, looked_at: Offset(0), end };
        Self { path: path.to_owned(), settings, faults, log, model, now: NOW }
    }

    fn opened(path: &Path, settings: &LogSettings, faults: &Arc<Faults>, opening: Opening) -> Log {
        let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(faults)));
        let health = Arc::<Health>::default();
        Log::open_on(disk, path.to_owned(), health, settings.clone(), opening, NOW).unwrap()
    }

    fn start(&mut self, clean: bool) {
        let (point, first_dirty) = (self.log.recovery_point(), self.log.cleaner_point());
        self.faults.fail_no_more();
        if clean {
            self.log.close().unwrap();
        }
        let log_start = self.log.log_start_offset();
        let opening = Opening { clean, recovery_point: point, log_start };
        self.log = Self::opened(&self.path, &self.settings, &self.faults, opening);
        // As the checkpoint has it.
        self.log.set_first_dirty(first_dirty.unwrap_or_default());
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Append { records, codec, producer } => self.append(&records, codec, producer),
            Step::Control { kind, producer } => self.control(kind, producer),
            Step::Roll => roll(&self.log),
            Step::Clean { later_ms, is_small, killed_after } => {
                self.now = TimestampMs(self.now.0 + later_ms);
                self.clean(is_small, killed_after);
            }
            Step::Start { clean } => self.start(clean),
            Step::Retain => drop(self.log.retain(self.now).unwrap()),
            Step::RaiseStart(to) => self.log.raise_start(Offset(to.min(self.model.end))).unwrap(),
        }
    }

    fn append(&mut self, records: &[(u8, Option<u8>)], codec: u8, producer: Option<u8>) {
        let codec = Compression::from_bits(codec.into()).unwrap();
        let records: Vec<Keyed> = records
            .iter()
            .map(|(key, value)| (key.to_string(), value.map(|it| it.to_string())))
            .collect();
        let builder = builder(codec, &records);
        let stored = match producer {
            None => append(&self.log, builder.build().unwrap()),
            Some(producer) => {
                let sequence = self.model.next_sequence(producer);
                let batch = by(builder, producer.into(), sequence);
                let header = batch.header.clone();
                let stored = append(&self.log, batch);
                self.model.note(producer, header, stored, false);
                stored
            }
        };
        for (at, record) in (0..).zip(records) {
            let appended = Appended { record, timestamp: NOW.0 + at, may_go_at: None };
            self.model.appended.insert(stored.0 + at, appended);
            self.model.end = stored.0 + at + 1;
        }
    }

    fn control(&mut self, kind: u8, producer: u8) {
        if kind == 0 {
            let pending =
                own_control_batch(NOW, ControlType::PendingAlert, &[b'0' + producer], b"{}");
            self.model.end = append(&self.log, pending).0 + 1;
            return;
        }
        let kind = [ControlType::Empty, ControlType::Route][usize::from(kind - 1)];
        let data = builder(Compression::None, &[keyed("x", "y"), keyed("z", "y")]);
        let data = by(data, producer.into(), self.model.next_sequence(producer));
        let batch = control_batch(&data.header, kind, b"value");
        let header = batch.header.clone();
        let stored = append(&self.log, batch);
        self.model.note(producer, header, stored, kind == ControlType::Route);
        self.model.end = stored.0 + 2;
    }

    fn clean(&mut self, is_small: bool, killed_after: Option<usize>) {
        let before = self.log.first_dirty();
        if let Some(operations) = killed_after {
            self.faults.fail_after(operations, Fault::Crash);
        }
        let cleaner = cleaner_with(if is_small { 1 } else { 1 << 16 });
        let outcome = cleaner.clean(&self.log, self.log.log_end_offset(), self.now);
        let is_over = outcome.is_ok();
        if killed_after.is_none() {
            let complete = outcome.unwrap().is_none_or(|it| it.complete);
            assert!(complete, "nothing else works on the log");
        }
        // Where it was looked at; after a kill all of it may have been.
        let looked_at =
            if is_over { self.log.first_dirty() } else { self.log.active().base_offset };
        assert!(self.log.first_dirty() >= before, "never back");
        self.model.looked_at(looked_at, self.now);
        if killed_after.is_some() {
            self.start(false);
        }
    }

    fn check(&self) {
        let start = self.log.log_start_offset().0;
        let mut read = records(&self.log);
        // The first batch may begin before it.
        read.retain(|it| it.0 >= start);
        assert_eq!(self.log.log_end_offset().0, self.model.end);
        assert!(read.iter().zip(read.iter().skip(1)).all(|(a, b)| a.0 < b.0), "in order, once");
        for (offset, record) in &read {
            assert_eq!(self.model.appended.get(offset).map(|it| &it.record), Some(record));
        }
        self.model.check_kept(&read, start, self.now);
        self.model.check_clean(&read, self.log.first_dirty().0);
        self.check_times();
        self.check_producers(start);
    }

    fn check_times(&self) {
        for batch in batches(&self.log).iter().filter(|it| !it.header.attributes.is_control()) {
            let header = &batch.header;
            let decoded = batch.decode(1 << 20).unwrap();
            let mut largest = -1;
            for record in decoded.records() {
                let offset = header.base_offset.0 + i64::from(record.offset_delta());
                let timestamp = header.base_timestamp.0 + record.timestamp_delta();
                assert_eq!(timestamp, self.model.appended[&offset].timestamp);
                largest = largest.max(timestamp);
            }
            assert_eq!(header.max_timestamp.0, largest);
        }
    }

    fn check_producers(&self, start: i64) {
        for (producer, (header, _)) in &self.model.producers {
            let ProducerCheck::Duplicate(stored) = self.log.check_producer(header).unwrap() else {
                assert!(header.base_offset.0 < start, "producer {producer} is forgotten");
                continue;
            };
            assert_eq!(stored.base_offset, header.base_offset);
        }
        for (producer, offset) in self.model.routes.iter().filter(|it| it.1.0 >= start) {
            let record = self.log.route_record(*offset).unwrap();
            assert_eq!(record.control().unwrap().0, ControlType::Route, "of producer {producer}");
        }
    }
}

impl Model {
    fn next_sequence(&self, producer: u8) -> i32 {
        self.producers.get(&producer).map_or(0, |it| it.1)
    }

    fn note(&mut self, producer: u8, header: BatchHeader, stored: Offset, is_route: bool) {
        let next = header.last_sequence() + 1;
        let header = BatchHeader { base_offset: stored, ..header };
        self.producers.insert(producer, (header, next));
        self.routes.remove(&producer);
        if is_route {
            self.routes.insert(producer, stored);
        }
    }

    fn looked_at(&mut self, end: Offset, now: TimestampMs) {
        self.looked_at = self.looked_at.max(end);
        for (_, it) in self.appended.range_mut(..end.0).filter(|it| it.1.record.1.is_none()) {
            it.may_go_at.get_or_insert(TimestampMs(now.0 + TOMBSTONE_MS));
        }
    }

    /// What must be there: all that is not clean, and the newest record of each key.
    fn check_kept(&self, read: &[(i64, Keyed)], start: i64, now: TimestampMs) {
        let read: BTreeMap<_, _> = read.iter().map(|it| (it.0, &it.1)).collect();
        let mut newest = HashMap::new();
        for (offset, it) in self.appended.range(start..) {
            newest.insert(&it.record.0, (*offset, it));
            let may_be_gone = *offset < self.looked_at.0;
            assert!(may_be_gone || read.contains_key(offset), "{offset} is not clean, and gone");
        }
        for (key, (offset, it)) in newest {
            let may_be_gone = it.may_go_at.is_some_and(|at| at <= now);
            assert!(
                may_be_gone || read.contains_key(&offset),
                "the newest {key}, {offset}, is gone"
            );
        }
    }

    /// What must not be there: of two records with a key in the clean part, the older one.
    fn check_clean(&self, read: &[(i64, Keyed)], first_dirty: i64) {
        let mut newest: HashMap<&String, i64> = HashMap::new();
        for (offset, it) in self.appended.range(..first_dirty) {
            newest.insert(&it.record.0, *offset);
        }
        for (offset, (key, _)) in read.iter().filter(|it| it.0 < first_dirty) {
            assert_eq!(newest[key], *offset, "an older {key} is still there");
        }
    }
}

fn cases() -> u32 {
    std::env::var("KLAMM_CLEANINGS").map_or(40, |it| it.parse().expect("a number"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_compacted_log_agrees_with_a_list(
        steps in vec(step(), 1..50),
        retention_bytes in prop_oneof![Just(-1_i64), Just(1_500)],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let settings = LogSettings {
            cleanup_policy: CleanupPolicy { delete: retention_bytes > 0, compact: true },
            retention_bytes,
            segment_bytes: 700,
            index_interval_bytes: 100,
            ..compacted()
        };
        let mut run = Run::new(&dir.path().join("t-0"), settings);
        for step in steps {
            run.take(step);
            run.check();
        }
    }
}
