//! What a stranger may send: whatever it is, the process lives, its memory stays bounded, and others are served.
//!
//! `KLAMM_MUTATIONS=100000 cargo test --test it hostile` sends as many mutated frames; a seed of your own is
//! `KLAMM_SEED`.

use std::{env, io::ErrorKind, time::Duration};

use bytes::BytesMut;
use kafka_protocol::messages::{ApiKey, ApiVersionsRequest, ApiVersionsResponse};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::support::{Broker, Client, frame_of, sample_body};

/// What the whole of a test may cost at its worst moment, above an idle broker.
const MEMORY_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// A request may wait for its answer on purpose (`Fetch`, `JoinGroup`); no test waits for that.
const PATIENCE: Duration = Duration::from_millis(50);

/// A broker under attack, and an honest client that watches.
struct Attacked {
    broker: Broker,
    honest: Client,
    idle_bytes: u64,
    attacker: Client,
}

impl Attacked {
    fn new() -> Self {
        let broker = Broker::start();
        let mut honest = broker.client();
        assert_eq!(versions(&mut honest).error_code, 0);
        let attacker = broker.client();
        let idle_bytes = broker.peak_resident_bytes();
        Self { broker, honest, idle_bytes, attacker }
    }

    /// Sends bytes, and goes on with a new connection unless they were answered.
    fn send(&mut self, bytes: &[u8]) {
        self.attacker.set_patience(PATIENCE);
        let sent = self.attacker.send_bytes(bytes);
        if sent.is_err() || self.attacker.receive_frame().is_err() {
            self.attacker = self.broker.client();
        }
    }

    #[track_caller]
    fn assert_unharmed(&mut self, after: &str) {
        assert!(self.broker.is_alive(), "the broker died after {after}");
        assert_eq!(versions(&mut self.honest).error_code, 0, "{after}");
        let grown = self.broker.peak_resident_bytes().saturating_sub(self.idle_bytes);
        assert!(grown < MEMORY_MAX_BYTES, "{after} cost {grown} bytes");
    }

    /// Every key with every version that is served.
    fn served(&mut self) -> Vec<(i16, i16)> {
        let announced = versions(&mut self.honest).api_keys;
        let each = announced.iter().flat_map(|api| {
            (api.min_version..=api.max_version).map(move |version| (api.api_key, version))
        });
        // Announced for librdkafka's sake, and refused.
        each.filter(|&(key, version)| key != ApiKey::Produce as i16 || version >= 3).collect()
    }
}

fn versions(client: &mut Client) -> ApiVersionsResponse {
    client.call(
        3,
        &ApiVersionsRequest::default()
            .with_client_software_name("it".into())
            .with_client_software_version("1".into()),
    )
}

#[test]
fn absurd_lengths_at_every_place_of_every_request_harm_nobody() {
    let mut attacked = Attacked::new();
    for (key, version) in attacked.served() {
        let body = sample_body(key, version);
        for at in 0..body.len() {
            for absurd in [
                i32::MAX.to_be_bytes().as_slice(),
                &(1_i32 << 30).to_be_bytes(),
                &(-2_i32).to_be_bytes(),
                &i16::MAX.to_be_bytes(),
                &(-2_i16).to_be_bytes(),
                // Compact: 2^32 − 1 and 2^31 − 1.
                &[0xff, 0xff, 0xff, 0xff, 0x0f],
                &[0xff, 0xff, 0xff, 0xff, 0x07],
            ] {
                let hostile = [&body[..at], absurd, &body[at..]].concat();
                attacked.send(&frame_of(key, version, 1, &hostile));
            }
        }
        attacked.assert_unharmed(&format!("key {key} version {version}"));
    }
}

#[test]
fn requests_cut_at_every_place_harm_nobody() {
    let mut attacked = Attacked::new();
    for (key, version) in attacked.served() {
        let frame = frame_of(key, version, 1, &sample_body(key, version));
        for cut in 0..frame.len() - 4 {
            let mut short = BytesMut::from(&frame[..4 + cut]);
            short[..4].copy_from_slice(&i32::try_from(cut).unwrap().to_be_bytes());
            attacked.send(&short);
        }
        attacked.assert_unharmed(&format!("key {key} version {version}"));
    }
}

#[test]
fn frames_that_lie_about_their_own_length_harm_nobody() {
    let mut attacked = Attacked::new();
    for length in [-1, i32::MIN, 0, 1, 3, 100 * 1024 * 1024, 100 * 1024 * 1024 + 1, i32::MAX] {
        for rest in [b"".as_slice(), &[0; 3], &[0xff; 4096]] {
            attacked.send(&[&length.to_be_bytes(), rest].concat());
            // What it may be waiting for does not come.
            attacked.attacker = attacked.broker.client();
        }
        attacked.assert_unharmed(&format!("a frame of {length} bytes"));
    }
}

#[test]
fn hundreds_of_connections_that_say_little_hold_up_nobody() {
    let mut attacked = Attacked::new();
    let largest = 100 * 1024 * 1024_i32;
    let beginnings = [
        Vec::new(),
        vec![0, 0],
        [largest.to_be_bytes().as_slice(), &[0]].concat(),
        // The largest `Produce` and the largest `Heartbeat`, of which a little arrives.
        [largest.to_be_bytes().as_slice(), &[0, 0, 0, 9], &[0; 1024]].concat(),
        [largest.to_be_bytes().as_slice(), &[0, 12, 0, 4], &[0; 1024]].concat(),
    ];
    let dawdlers: Vec<_> = (0..400)
        .map(|at| {
            let mut dawdler = attacked.broker.client();
            // Some are closed at once.
            let _ = dawdler.send_bytes(&beginnings[at % beginnings.len()]);
            dawdler
        })
        .collect();
    attacked.assert_unharmed("400 silent connections");
    assert_eq!(versions(&mut attacked.broker.client()).error_code, 0, "newcomers are served");
    drop(dawdlers);
    attacked.assert_unharmed("their end");
}

#[test]
fn a_heartbeat_that_is_announced_to_be_huge_is_not_read() {
    let mut attacked = Attacked::new();
    let length = 100 * 1024 * 1024_i32;
    let frame = [length.to_be_bytes().as_slice(), &[0, 12, 0, 4], &[0; 64]].concat();
    attacked.attacker.send_bytes(&frame).unwrap();
    let end = attacked.attacker.receive_frame().unwrap_err().kind();
    assert!(!matches!(end, ErrorKind::WouldBlock | ErrorKind::TimedOut), "it is waited for: {end}");
    attacked.assert_unharmed("a huge heartbeat");
}

#[test]
fn many_empty_elements_do_not_grow_in_memory() {
    let mut attacked = Attacked::new();
    // Ten million topics without a name: 20 MB that would become 700.
    let count = 10_000_000_i32;
    let body = [count.to_be_bytes().as_slice(), &vec![0; 2 * count as usize]].concat();
    attacked.send(&frame_of(ApiKey::Metadata as i16, 0, 1, &body));
    attacked.assert_unharmed("ten million topics");
}

#[test]
fn mutated_requests_harm_nobody() {
    let mutations = number("KLAMM_MUTATIONS", 2_000);
    let seed = number("KLAMM_SEED", 1);
    println!("KLAMM_MUTATIONS={mutations} KLAMM_SEED={seed}");
    let mut rng = StdRng::seed_from_u64(seed);
    let mut attacked = Attacked::new();
    let served = attacked.served();
    for done in 0..mutations {
        let (key, version) = served[rng.random_range(0..served.len())];
        let mut frame = frame_of(key, version, 1, &sample_body(key, version));
        mutate(&mut frame, &mut rng);
        attacked.send(&frame);
        if done % 500 == 0 {
            attacked.assert_unharmed(&format!("{done} mutations"));
        }
    }
    attacked.assert_unharmed("all mutations");
}

/// Changes, inserts and removes bytes after the length, which is made right again.
fn mutate(frame: &mut BytesMut, rng: &mut StdRng) {
    let mut bytes = frame.split_off(4).to_vec();
    for _ in 0..rng.random_range(1..6) {
        let at = rng.random_range(0..bytes.len().max(1));
        match rng.random_range(0..4) {
            0 if at < bytes.len() => bytes[at] = rng.random(),
            1 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            _ => bytes.insert(at, [0, 1, 0x7f, 0x80, 0xff][rng.random_range(0..5)]),
        }
    }
    let length = i32::try_from(bytes.len()).unwrap();
    frame.copy_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&bytes);
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("a number"))
}
