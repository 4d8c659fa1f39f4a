//! kill −9 while an idempotent producer sends: what was acknowledged is there, once, in order.
//!
//! `KLAMM_CRASHES=20 cargo test --test it crash` kills more often.

use std::{sync::mpsc, thread};

use crate::support::{Broker, Client, PATIENCE, Session, eventually, guests};

fn crashes() -> usize {
    std::env::var("KLAMM_CRASHES").map_or(3, |it| it.parse().expect("a number"))
}

/// Records of each batch.
const RECORDS: usize = 4;

/// Sends batch after batch and never gives one up.
struct Producer {
    client: Client,
    session: Session,
    topic: &'static str,
    /// Batches acknowledged.
    done: usize,
}

impl Producer {
    fn new(broker: &Broker, topic: &'static str) -> Self {
        let mut client = broker.client();
        let session = Session::new(&mut client);
        Self { client, session, topic, done: 0 }
    }

    fn batch(&self) -> bytes::Bytes {
        let first = self.done * RECORDS;
        let values: Vec<String> = (first..first + RECORDS).map(|it| format!("{it:08}")).collect();
        let keys = ["k0", "k1", "k2", "k1"];
        let records: Vec<_> = keys
            .iter()
            .zip(&values)
            .map(|(key, value)| (Some(*key), Some(value.as_str())))
            .collect();
        self.session.batch(i32::try_from(first).unwrap(), &records)
    }

    /// Sends until the broker is gone; the last batch may be stored or not.
    fn send_until_it_dies(&mut self, progress: &mpsc::Sender<usize>) {
        while self.client.try_produce(self.topic, 0, self.batch()) {
            self.done += 1;
            let _ = progress.send(self.done);
        }
    }
}

/// Kills a node again and again while a producer sends to `topic`; batches acknowledged.
fn crash_again_and_again(broker: &mut Broker, topic: &'static str) -> usize {
    let mut producer = Producer::new(broker, topic);
    for crash in 0..crashes() {
        producer.client = broker.client();
        let before = producer.done;
        let (progress, reports) = mpsc::channel();
        let sending = thread::spawn(move || {
            producer.send_until_it_dies(&progress);
            producer
        });
        // It is killed in the middle of things: never after the same number of batches.
        while reports.recv_timeout(PATIENCE).expect("it goes on") < before + 20 + crash {}
        broker.kill_and_restart();
        producer = sending.join().unwrap();
    }
    producer.client = broker.client();
    producer.client.must_produce(topic, 0, producer.batch());
    producer.done + 1
}

fn numbers(client: &mut Client, topic: &str, partition: i32) -> Vec<usize> {
    client.values(topic, partition).iter().map(|it| it.parse().unwrap()).collect()
}

#[test]
fn acknowledged_records_survive_once_and_in_order() {
    let mut broker = Broker::start();
    broker.client().create_topic("t", 1, &[]);
    let batches = crash_again_and_again(&mut broker, "t");
    let stored = numbers(&mut broker.client(), "t", 0);
    assert_eq!(stored, (0..batches * RECORDS).collect::<Vec<_>>());
}

#[test]
fn routed_records_survive_once_and_in_order() {
    let mut broker = Broker::start();
    broker.load_plugin("digit", &guests::by_last_digit("1.0.0", false));
    let mut client = broker.client();
    client.create_topic("t", 3, &[("klamm.partitioner", "digit")]);
    let batches = crash_again_and_again(&mut broker, "t");
    let mut client = broker.client();
    let partition_of = |number: usize| [0, 1, 2, 1][number % RECORDS];
    for partition in 0..3 {
        let want: Vec<_> =
            (0..batches * RECORDS).filter(|&it| partition_of(it) == partition).collect();
        assert_eq!(numbers(&mut client, "t", partition), want, "partition {partition}");
    }
}

#[test]
fn topics_and_their_configs_are_there_after_a_crash() {
    let mut broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("t", 3, &[("klamm.partitioner", "round-robin")]);
    broker.kill_and_restart();
    let mut client = broker.client();
    let session = Session::new(&mut client);
    client.must_produce("t", 0, session.batch(0, &[(None, Some("a")); 6]));
    eventually("they are spread", || {
        (0..3).all(|it| client.values("t", it).len() == 2).then_some(())
    });
}
