//! What does a hook cost beside a topic without one?
//!
//! `cargo bench --bench hook_call` measures; `BATCHES=5000 RECORDS=1000 cargo bench …` changes the input. `cargo test` runs
//! the same code once on a small input, so that it cannot rot.
//!
//! One client with five batches in flight over loopback, all topics in one run, interleaved: compare the ratios. It does
//! not show the cost in threads under many clients, nor with another codec than none. The checksum is the sum of the
//! ends of the partitions.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use bytes::{BufMut as _, Bytes, BytesMut};
use kafka_protocol::{
    messages::{
        ApiKey, CreateTopicsRequest, ListOffsetsRequest, ListOffsetsResponse, ProduceRequest,
        ProduceResponse, RequestHeader,
        create_topics_request::{CreatableTopic, CreatableTopicConfig},
        list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
        produce_request::{PartitionProduceData, TopicProduceData},
    },
    protocol::{Decodable as _, Encodable, StrBytes, encode_request_header_into_buffer},
};
use klamm::{
    base::TimestampMs,
    wire::record_batch::{BatchBuilder, Compression, RecordParts},
};

/// Topics by the hooks that they have.
const TOPICS: [(&str, &[(&str, &str)]); 5] = [
    ("none", &[]),
    ("observed", &[("klamm.partitioner", "key-ordering"), ("klamm.partitioner.mode", "observe")]),
    ("routed", &[("klamm.partitioner", "key-ordering")]),
    ("watched", &[("klamm.transforms", "log-alert")]),
    ("both", &[("klamm.partitioner", "key-ordering"), ("klamm.transforms", "log-alert")]),
];

const PARTITIONS: i32 = 3;
const IN_FLIGHT: usize = 5;
/// Rounds over all topics; the median counts.
const ROUNDS: usize = 5;

fn main() {
    let measuring = env::args().any(|arg| arg == "--bench");
    let batches = parameter("BATCHES", if measuring { 1_000 } else { 5 });
    let records = parameter("RECORDS", if measuring { 500 } else { 10 });
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("hook-call-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the node's data");

    let node = Node::start(&folder);
    let mut client = Client::connect(&node.kafka);
    for (name, configs) in TOPICS {
        client.create_topic(name, configs);
    }
    let batch = batch(records);
    let mut seconds = vec![Vec::new(); TOPICS.len()];
    for _ in 0..ROUNDS {
        for ((name, _), seconds) in TOPICS.iter().zip(&mut seconds) {
            seconds.push(client.produce(name, &batch, batches));
        }
    }
    report(&mut client, &seconds, batches * records);
    node.stop();
    fs::remove_dir_all(&folder).expect("the folder was this bench's own");
}

fn report(client: &mut Client, seconds: &[Vec<f64>], records: usize) {
    println!(
        "{:<10} {:>14} {:>12} {:>12} {:>10}",
        "hooks", "records/s", "ns/record", "of none", "offsets"
    );
    let none = median(&seconds[0]);
    for ((name, _), seconds) in TOPICS.iter().zip(seconds) {
        let median = median(seconds);
        println!(
            "{name:<10} {:>14.0} {:>12.0} {:>12.2} {:>10}",
            records as f64 / median,
            median * 1e9 / records as f64,
            none / median,
            client.end_offsets(name)
        );
    }
}

fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn parameter(name: &str, default: usize) -> usize {
    env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Log lines of a hundred keys, one in a hundred an error.
fn batch(records: usize) -> Bytes {
    let mut builder = BatchBuilder::new(TimestampMs(1_764_400_000_000), Compression::None);
    for at in 0..records {
        let level = if at % 100 == 0 { "ERROR" } else { "INFO" };
        let line = format!("2026-01-02 03:04:05,678 {level} store: wrote block {at} of 4096 bytes");
        builder.push(&RecordParts {
            offset_delta: at as i32,
            timestamp_delta: 0,
            key: Some(format!("key-{}", at % 100).as_bytes()),
            value: Some(line.as_bytes()),
            headers: Vec::new(),
        });
    }
    builder.build().expect("records").bytes
}

/// One connection.
struct Client {
    stream: TcpStream,
}

impl Client {
    fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("the node listens");
        stream.set_nodelay(true).expect("a socket");
        Self { stream }
    }

    fn create_topic(&mut self, name: &str, configs: &[(&str, &str)]) {
        let config = |(name, value): &(&str, &str)| {
            CreatableTopicConfig::default().with_name(text(name)).with_value(Some(text(value)))
        };
        let topic = CreatableTopic::default()
            .with_name(text(name).into())
            .with_num_partitions(PARTITIONS)
            .with_replication_factor(1)
            .with_configs(configs.iter().map(config).collect());
        let request =
            CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(30_000);
        self.send(ApiKey::CreateTopics, 4, &request);
        self.receive();
    }

    /// Sends the batch so many times; seconds until the last answer.
    fn produce(&mut self, topic: &str, batch: &Bytes, batches: usize) -> f64 {
        let data = PartitionProduceData::default().with_index(0).with_records(Some(batch.clone()));
        let topic = TopicProduceData::default()
            .with_name(text(topic).into())
            .with_partition_data(vec![data]);
        let request = ProduceRequest::default()
            .with_acks(-1)
            .with_timeout_ms(30_000)
            .with_topic_data(vec![topic]);
        let started = Instant::now();
        for at in 0..batches + IN_FLIGHT {
            if at >= IN_FLIGHT {
                let response = ProduceResponse::decode(&mut self.receive(), 8).expect("an answer");
                let partition = &response.responses[0].partition_responses[0];
                assert_eq!(partition.error_code, 0, "{:?}", partition.error_message);
            }
            if at < batches {
                self.send(ApiKey::Produce, 8, &request);
            }
        }
        started.elapsed().as_secs_f64()
    }

    /// The sum of the ends of a topic's partitions.
    fn end_offsets(&mut self, topic: &str) -> i64 {
        const LATEST: i64 = -1;
        let partition =
            |it| ListOffsetsPartition::default().with_partition_index(it).with_timestamp(LATEST);
        let topic = ListOffsetsTopic::default()
            .with_name(text(topic).into())
            .with_partitions((0..PARTITIONS).map(partition).collect());
        let request = ListOffsetsRequest::default().with_topics(vec![topic]);
        self.send(ApiKey::ListOffsets, 1, &request);
        let response = ListOffsetsResponse::decode(&mut self.receive(), 1).expect("an answer");
        response.topics[0].partitions.iter().map(|it| it.offset).sum()
    }

    fn send(&mut self, key: ApiKey, version: i16, request: &impl Encodable) {
        let header = RequestHeader::default()
            .with_request_api_key(key as i16)
            .with_request_api_version(version)
            .with_client_id(Some(text("bench")));
        let mut frame = BytesMut::new();
        frame.put_i32(0);
        encode_request_header_into_buffer(&mut frame, &header).expect("a known key");
        request.encode(&mut frame, version).expect("a request of its version");
        let length = (frame.len() - 4) as i32;
        frame[..4].copy_from_slice(&length.to_be_bytes());
        self.stream.write_all(&frame).expect("the node takes it");
    }

    /// The next answer, less its length and correlation id.
    fn receive(&mut self) -> Bytes {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).expect("the node answers");
        let mut frame = vec![0; i32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut frame).expect("the node answers");
        Bytes::from(frame).slice(4..)
    }
}

fn text(it: &str) -> StrBytes {
    StrBytes::from_string(it.to_owned())
}

/// A node in a process of its own.
struct Node {
    process: Child,
    kafka: String,
}

impl Node {
    fn start(folder: &Path) -> Self {
        let settings = [
            "listeners=PLAINTEXT://127.0.0.1:0",
            "klamm.http.listen=127.0.0.1:0",
            // On a busy machine a wait is no failure of the plugin's.
            "klamm.plugin.call.timeout.ms=60000",
            "klamm.plugin.load.timeout.ms=120000",
        ];
        let mut process = Command::new(env!("CARGO_BIN_EXE_klamm"))
            .arg("serve")
            .args(settings.iter().flat_map(|it| ["--set", it]))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let lines = BufReader::new(process.stderr.take().expect("it is piped")).lines();
        let mut lines = lines.map_while(Result::ok);
        let ready = lines.find(|it| it.contains("klamm is ready:")).expect("it serves");
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let kafka = ready.split("PLAINTEXT://").nth(1).expect("an address");
        Self { process, kafka: kafka.split_whitespace().next().unwrap_or_default().to_owned() }
    }

    fn stop(mut self) {
        let id = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it runs");
        let started = Instant::now();
        while self.process.try_wait().expect("a child").is_none() {
            assert!(started.elapsed() < Duration::from_mins(2), "it does not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
