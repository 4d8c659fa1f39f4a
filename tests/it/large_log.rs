//! A large log, and kill −9 at random moments: while producers send, segments roll and retention takes them, and while an earlier kill
//! is recovered from. After each, what was acknowledged is there once, in order, byte for byte.
//!
//! `KLAMM_CRASHES=100 KLAMM_CRASH_MB=1024 cargo test --test it large_log -- --nocapture` is the long run; `KLAMM_CRASH_SEED`
//! repeats the moments of one.

use std::{
    env,
    hash::{BuildHasher, Hasher, RandomState},
    sync::mpsc,
    thread,
    time::Duration,
};

use bytes::Bytes;
use kafka_protocol::{
    messages::{
        FetchRequest, ListOffsetsRequest,
        fetch_request::{FetchPartition, FetchTopic},
        list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
    },
    protocol::StrBytes,
};
use klamm::wire::record_batch::{Batch, split};

use crate::support::{Broker, Client, PATIENCE, Session};

const RECORDS: usize = 8;
const VALUE_BYTES: usize = 32 * 1024;
const BATCH_BYTES: usize = RECORDS * VALUE_BYTES;
/// Of the partitions whose records stay.
const KEPT: [(&str, i32); 2] = [("kept", 0), ("kept", 1)];
/// Segments of which retention takes the oldest.
const TAKEN: (&str, i32) = ("taken", 0);
/// A start that has come so far has opened its logs, most of the time.
const START_MS: u64 = 1_500;

fn setting(name: &str, default: usize) -> usize {
    env::var(name).map_or(default, |it| it.parse().expect("a number"))
}

/// Moments that a seed tells.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = RandomState::new().build_hasher().finish();
        let seed = env::var("KLAMM_CRASH_SEED").map_or(seed, |it| it.parse().expect("a seed"));
        println!("KLAMM_CRASH_SEED={seed}");
        Self(seed | 1)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// An idempotent producer of one partition that never gives a batch up.
struct Producer {
    topic: &'static str,
    partition: i32,
    session: Session,
    /// CRCs of the batches that were acknowledged.
    acknowledged: Vec<u32>,
}

impl Producer {
    fn new(client: &mut Client, (topic, partition): (&'static str, i32)) -> Self {
        Self { topic, partition, session: Session::new(client), acknowledged: Vec::new() }
    }

    /// The next batch: no two are alike.
    fn batch(&self) -> (Bytes, u32) {
        let first = self.acknowledged.len() * RECORDS;
        let values: Vec<String> = (first..first + RECORDS)
            .map(|it| format!("{}-{it:08} ", self.partition).repeat(VALUE_BYTES / 11))
            .collect();
        let records: Vec<_> = values.iter().map(|it| (None, Some(it.as_str()))).collect();
        let bytes = self.session.batch(i32::try_from(first).unwrap(), &records);
        let crc = split(bytes.clone()).unwrap()[0].header.crc;
        (bytes, crc)
    }

    fn send(&mut self, client: &mut Client) -> bool {
        let (bytes, crc) = self.batch();
        let is_acknowledged = client.try_produce(self.topic, self.partition, bytes);
        if is_acknowledged {
            self.acknowledged.push(crc);
        }
        is_acknowledged
    }

    fn send_until_it_dies(mut self, mut client: Client, told: &mpsc::Sender<()>) -> Self {
        while self.send(&mut client) {
            // Nobody listens any more once the broker is to die.
            let _ = told.send(());
        }
        self
    }

    /// The batches that a consumer sees are those that were acknowledged, from `start` on, and at most the one that was under way.
    fn check(&self, client: &mut Client) {
        let start = usize::try_from(log_start(client, self.topic, self.partition)).unwrap();
        assert!(start == 0 || self.topic == TAKEN.0, "{} begins at {start}", self.topic);
        assert!(start.is_multiple_of(RECORDS), "{start}");
        let mut number = start / RECORDS;
        let under_way = self.batch().1;
        each_batch(client, self.topic, self.partition, start, |batch| {
            let want = self.acknowledged.get(number).copied().unwrap_or(under_way);
            assert_eq!(batch.header.base_offset.0, (number * RECORDS) as i64, "no gap, none twice");
            assert_eq!(batch.header.crc, want, "batch {number} of {}", self.topic);
            batch.validate().expect("its bytes are those of its CRC");
            number += 1;
        });
        let acknowledged = self.acknowledged.len();
        assert!(number == acknowledged || number == acknowledged + 1, "{number}, {acknowledged}");
    }
}

fn each_batch(
    client: &mut Client,
    topic: &str,
    partition: i32,
    start: usize,
    mut look: impl FnMut(&Batch),
) {
    let mut offset = i64::try_from(start).unwrap();
    loop {
        let wanted = FetchPartition::default()
            .with_partition(partition)
            .with_fetch_offset(offset)
            .with_partition_max_bytes(8 << 20);
        let name = StrBytes::from_string(topic.to_owned());
        let wanted = FetchTopic::default().with_topic(name.into()).with_partitions(vec![wanted]);
        let request = FetchRequest::default().with_max_bytes(8 << 20).with_topics(vec![wanted]);
        let fetched = client.call(11, &request).responses.remove(0).partitions.remove(0);
        assert_eq!(fetched.error_code, 0);
        for batch in split(fetched.records.unwrap_or_default()).expect("whole batches") {
            offset = batch.header.last_offset().0 + 1;
            look(&batch);
        }
        if offset >= fetched.high_watermark {
            return;
        }
    }
}

fn log_start(client: &mut Client, topic: &str, partition: i32) -> i64 {
    let earliest =
        ListOffsetsPartition::default().with_partition_index(partition).with_timestamp(-2);
    let name = StrBytes::from_string(topic.to_owned());
    let topic = ListOffsetsTopic::default().with_name(name.into()).with_partitions(vec![earliest]);
    let request =
        ListOffsetsRequest::default().with_replica_id((-1).into()).with_topics(vec![topic]);
    client.call(5, &request).topics.remove(0).partitions.remove(0).offset
}

/// Lets all producers send, and kills the broker after so many batches.
fn crash(broker: &mut Broker, producers: Vec<Producer>, batches: u64) -> Vec<Producer> {
    let (told, acknowledged) = mpsc::channel();
    let sending: Vec<_> = producers
        .into_iter()
        // Connected here: it may be dead before its thread has begun.
        .map(|it| (it, broker.client(), told.clone()))
        .map(|(it, client, told)| thread::spawn(move || it.send_until_it_dies(client, &told)))
        .collect();
    for _ in 0..batches {
        acknowledged.recv_timeout(PATIENCE).expect("it goes on");
    }
    broker.kill();
    sending.into_iter().map(|it| it.join().unwrap()).collect()
}

#[test]
fn what_was_acknowledged_survives_a_kill_at_any_moment() {
    let mut random = Random::new();
    let mut broker = Broker::with(&[
        ("log.retention.check.interval.ms", "150"),
        ("log.flush.offset.checkpoint.interval.ms", "100"),
        ("log.segment.delete.delay.ms", "100"),
        // Tests' records are as old as they say.
        ("log.retention.ms", "-1"),
    ]);
    let mut client = broker.client();
    client.create_topic(KEPT[0].0, 2, &[("segment.bytes", "8388608")]);
    client.create_topic(
        TAKEN.0,
        1,
        &[("segment.bytes", "1048576"), ("retention.bytes", "2097152")],
    );
    let mut producers: Vec<_> =
        KEPT.iter().chain([&TAKEN]).map(|&it| Producer::new(&mut client, it)).collect();
    let filled = (setting("KLAMM_CRASH_MB", 16) << 20) / KEPT.len() / BATCH_BYTES;
    for producer in producers.iter_mut().take(KEPT.len()) {
        while producer.acknowledged.len() < filled {
            assert!(producer.send(&mut client));
        }
    }
    for crashed in 1..=setting("KLAMM_CRASHES", 3) {
        producers = crash(&mut broker, producers, 1 + random.below(40));
        while random.below(3) == 0 {
            broker.kill_in_start(Duration::from_millis(random.below(START_MS)));
        }
        broker.start_again();
        let mut client = broker.client();
        for it in &producers {
            it.check(&mut client);
        }
        let batches: usize = producers.iter().map(|it| it.acknowledged.len()).sum();
        println!("kill {crashed}: {batches} batches are there");
    }
}
