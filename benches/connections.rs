//! Do connections that are idle or stalled hold up those that work, and what memory do they take?
//!
//! `cargo bench --bench connections` measures with 1,900 idle, 50 stalled and 50 working connections;
//! `IDLE=… STALLED=… WORKING=… SECONDS=… cargo bench …` changes that, and `KLAMM_BIN=FILE` measures another binary.
//! `cargo test` runs the same code once on a small input, so that it cannot rot.
//!
//! Each pair is a time with the working connections alone and one with all of them, on one node, in turns; the working
//! ones produce, one request after the other. A third of the stalled ones send half a request, a third take no answers, a third send
//! a byte at a time. It does not show what the system itself does with more sockets than this.

mod node;

use std::{
    env, fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use bytes::{BufMut as _, Bytes, BytesMut};
use kafka_protocol::{
    messages::{
        ApiKey, FetchRequest, ProduceRequest, RequestHeader,
        fetch_request::{FetchPartition, FetchTopic},
        produce_request::{PartitionProduceData, TopicProduceData},
    },
    protocol::{Encodable, StrBytes, encode_request_header_into_buffer},
};
use klamm::{
    base::TimestampMs,
    wire::record_batch::{BatchBuilder, Compression, RecordParts},
};
use node::{Node, parameter};

const TOPIC: &str = "connections";
const PARTITIONS: usize = 10;
const PAIRS: usize = 5;

/// Of one request.
const RECORDS: i32 = 16;
const VALUE_BYTES: usize = 1_000;

/// Requests for an answer of a MiB each, which nobody takes.
const UNTAKEN: usize = 16;

struct Crowd {
    idle: usize,
    stalled: usize,
    working: usize,
    time: Duration,
}

fn main() {
    let measuring = env::args().any(|arg| arg == "--bench");
    let or = |name, real, small| parameter(name, if measuring { real } else { small });
    let crowd = Crowd {
        idle: or("IDLE", 1_900, 20),
        stalled: or("STALLED", 50, 6),
        working: or("WORKING", 50, 4),
        time: Duration::from_millis(or("SECONDS", 5, 0) as u64 * 1_000 + 100),
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("connections-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the node's data");
    let (node, _) = Node::start(&folder, &["log.retention.bytes=100000000"]);
    node.create_topic(TOPIC, PARTITIONS);
    work(&node, &crowd);
    measure(&node, &crowd, if measuring { PAIRS } else { 1 });
    node.stop();
    fs::remove_dir_all(&folder).expect("the folder was this bench's own");
}

fn measure(node: &Node, crowd: &Crowd, pairs: usize) {
    let Crowd { idle, stalled, working, .. } = crowd;
    println!(
        "{working} working connections, without and with {idle} idle and {stalled} stalled ones"
    );
    println!(
        "{:<6} {:>14} {:>14} {:>7} {:>14}",
        "pair", "alone, req/s", "all, req/s", "ratio", "resident, MiB"
    );
    let mut ratios: Vec<f64> = (1..=pairs).map(|pair| measure_pair(node, crowd, pair)).collect();
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3}, most resident {:.1} MiB", ratios[pairs / 2], node.mib("VmHWM:"));
}

/// What the working ones do beside the others, of what they do alone.
fn measure_pair(node: &Node, crowd: &Crowd, pair: usize) -> f64 {
    let alone = work(node, crowd);
    let idle: Vec<_> = (0..crowd.idle).map(|_| connect(node)).collect();
    let stalled = Stalled::begin(node, crowd.stalled);
    let all = work(node, crowd);
    let resident = node.mib("VmRSS:");
    drop((idle, stalled));
    let ratio = all / alone;
    println!("{pair:<6} {alone:>14.0} {all:>14.0} {ratio:>7.3} {resident:>14.1}");
    ratio
}

/// Requests a second of all working connections.
fn work(node: &Node, crowd: &Crowd) -> f64 {
    let (answered, begin) = (AtomicU64::new(0), Barrier::new(crowd.working + 1));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for at in 0..crowd.working {
            let (answered, begin, stop) = (&answered, &begin, &stop);
            let mut stream = connect(node);
            scope.spawn(move || {
                let request = produce(at % PARTITIONS);
                begin.wait();
                while !stop.load(Ordering::Relaxed) {
                    stream.write_all(&request).expect("the node takes a request");
                    receive(&mut stream);
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        begin.wait();
        let started = Instant::now();
        thread::sleep(crowd.time);
        let done = answered.load(Ordering::Relaxed);
        let took = started.elapsed();
        stop.store(true, Ordering::Relaxed);
        done as f64 / took.as_secs_f64()
    })
}

fn receive(stream: &mut TcpStream) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).expect("the node answers");
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).expect("the node answers");
    // Correlation id, no tags, one topic, its name, one partition, its index, its error.
    let error_at = 4 + 1 + 1 + 1 + TOPIC.len() + 1 + 4;
    assert_eq!(answer[error_at..error_at + 2], [0, 0], "the node stores it");
}

/// Connections that neither work nor are idle, until dropped.
struct Stalled {
    _half: Vec<TcpStream>,
    _untaken: Vec<TcpStream>,
    trickling: Option<thread::JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl Stalled {
    fn begin(node: &Node, count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let half = (0..count / 3).map(|_| sent(node, &produce(0)[..5_000]));
        let untaken = (0..count / 3).map(|_| sent(node, &fetch().repeat(UNTAKEN)));
        let (half, untaken) = (half.collect(), untaken.collect());
        let trickling: Vec<_> = (0..count - count / 3 * 2).map(|_| connect(node)).collect();
        let stopped = Arc::clone(&stop);
        let trickling = thread::spawn(move || trickle(trickling, &stopped));
        Self { _half: half, _untaken: untaken, trickling: Some(trickling), stop }
    }
}

impl Drop for Stalled {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.trickling.take().into_iter().for_each(|it| it.join().expect("it only sends"));
    }
}

/// A byte of a request, a moment, the next byte.
fn trickle(mut streams: Vec<TcpStream>, stop: &AtomicBool) {
    for byte in produce(0) {
        for stream in &mut streams {
            stream.write_all(&[byte]).expect("the node takes its time");
        }
        thread::sleep(Duration::from_millis(20));
        if stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

fn produce(partition: usize) -> Bytes {
    let mut builder = BatchBuilder::new(TimestampMs(1_764_400_000_000), Compression::None);
    for offset_delta in 0..RECORDS {
        let (key, value) = (None, Some(&[b'v'; VALUE_BYTES][..]));
        let headers = Vec::new();
        builder.push(&RecordParts { offset_delta, timestamp_delta: 0, key, value, headers });
    }
    let batch = builder.build().expect("it has records").bytes;
    let data =
        PartitionProduceData::default().with_index(partition as i32).with_records(Some(batch));
    let name = StrBytes::from_static_str(TOPIC).into();
    let topic = TopicProduceData::default().with_name(name).with_partition_data(vec![data]);
    let request = ProduceRequest::default().with_acks(-1).with_timeout_ms(30_000);
    frame(ApiKey::Produce, 9, &request.with_topic_data(vec![topic]))
}

fn fetch() -> Bytes {
    let partition = FetchPartition::default().with_partition_max_bytes(1 << 20);
    let topic = FetchTopic::default()
        .with_topic(StrBytes::from_static_str(TOPIC).into())
        .with_partitions(vec![partition]);
    frame(
        ApiKey::Fetch,
        12,
        &FetchRequest::default().with_max_bytes(1 << 20).with_topics(vec![topic]),
    )
}

fn frame(key: ApiKey, version: i16, body: &impl Encodable) -> Bytes {
    let header = RequestHeader::default()
        .with_request_api_key(key as i16)
        .with_request_api_version(version)
        .with_correlation_id(1)
        .with_client_id(Some("bench".into()));
    let mut frame = BytesMut::new();
    frame.put_i32(0);
    encode_request_header_into_buffer(&mut frame, &header).expect("the key is known");
    body.encode(&mut frame, version).expect("the request fits its version");
    let length = frame.len() as u32 - 4;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    frame.freeze()
}

fn connect(node: &Node) -> TcpStream {
    let stream = TcpStream::connect(&node.kafka).expect("the node listens");
    stream.set_nodelay(true).expect("it is a socket");
    stream
}

fn sent(node: &Node, bytes: &[u8]) -> TcpStream {
    let mut stream = connect(node);
    stream.write_all(bytes).expect("the node takes it");
    stream
}
