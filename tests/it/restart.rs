//! A start after a clean stop looks at no more than the ends of logs, and leaves no file open, however many and large they are.
//!
//! `KLAMM_RESTART_PARTITIONS=10000 cargo test --release --test it a_clean_start -- --nocapture` is the large run: files of 10 MiB each
//! that take no room on the disk, 100 GB in all.

use std::{
    env,
    fs::{self, OpenOptions},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::Instant,
};

use kafka_protocol::{
    messages::{
        ListOffsetsRequest,
        list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
    },
    protocol::StrBytes,
};

use crate::support::{Broker, Client, batch};

const TOPIC_PARTITIONS: usize = 1_000;
const LOG_BYTES: u64 = 10 << 20;
/// Of a segment: the ends of three files, its first batch, those behind the last entry of an index, the producers.
const READ_PER_PARTITION_MAX: u64 = 80 << 10;

fn partitions() -> usize {
    env::var("KLAMM_RESTART_PARTITIONS").map_or(40, |it| it.parse().expect("a number"))
}

/// Topics and how many partitions each has.
fn topics() -> Vec<(String, usize)> {
    let all = partitions();
    let counts = (0..all).step_by(TOPIC_PARTITIONS).map(|it| TOPIC_PARTITIONS.min(all - it));
    counts.enumerate().map(|(at, count)| (format!("t{at}"), count)).collect()
}

/// Lets a log that was closed end with one more batch, most of which is a hole. Nothing tells it from what was written but its CRC.
fn grow(folder: &Path) {
    let name = |offset: u64, suffix: &str| folder.join(format!("{offset:020}.{suffix}"));
    let log = OpenOptions::new().read(true).write(true).open(name(0, "log")).unwrap();
    let end = log.metadata().unwrap().len();
    let mut header = [0; 61];
    log.read_exact_at(&mut header, 0).unwrap();
    header[..8].copy_from_slice(&1_i64.to_be_bytes());
    let length = i32::try_from(LOG_BYTES - end - 12).unwrap();
    header[8..12].copy_from_slice(&length.to_be_bytes());
    log.write_all_at(&header, end).unwrap();
    log.set_len(LOG_BYTES).unwrap();
    fs::rename(name(1, "snapshot"), name(2, "snapshot")).unwrap();
}

fn log_end(client: &mut Client, topic: &str, partition: usize) -> i64 {
    let partition = i32::try_from(partition).unwrap();
    let latest = ListOffsetsPartition::default().with_partition_index(partition).with_timestamp(-1);
    let name = StrBytes::from_string(topic.to_owned());
    let topic = ListOffsetsTopic::default().with_name(name.into()).with_partitions(vec![latest]);
    let request =
        ListOffsetsRequest::default().with_replica_id((-1).into()).with_topics(vec![topic]);
    client.call(5, &request).topics.remove(0).partitions.remove(0).offset
}

/// Bytes that a start has read, and files of logs that it left open.
fn cost_of_start(broker: &Broker) -> (u64, usize) {
    let io = fs::read_to_string(broker.proc("io")).unwrap();
    let read = io.lines().find_map(|it| it.strip_prefix("rchar: ")).unwrap().parse().unwrap();
    let data = broker.data_dir().canonicalize().unwrap();
    let is_of_a_log = |it: &PathBuf| {
        it.starts_with(&data) && it.extension().is_some_and(|it| it == "log" || it == "timeindex")
    };
    let links = fs::read_dir(broker.proc("fd")).unwrap();
    let open = links.filter_map(|it| fs::read_link(it.ok()?.path()).ok()).filter(is_of_a_log);
    let of_records = open.filter(|it| !it.to_string_lossy().contains("/__"));
    (read, of_records.count())
}

#[test]
fn a_clean_start_reads_a_few_kilobytes_of_each_log_and_leaves_it_closed() {
    let mut broker = Broker::start();
    let mut client = broker.client();
    for (topic, count) in topics() {
        client.create_topic(&topic, i32::try_from(count).unwrap(), &[("retention.ms", "-1")]);
        for partition in 0..count {
            let record = batch(&[(None, Some("a"))]);
            client.must_produce(&topic, i32::try_from(partition).unwrap(), record);
        }
    }
    broker.terminate_and_restart();
    let (read_before, _) = cost_of_start(&broker);
    assert!(broker.terminate().success());
    for (topic, count) in topics() {
        (0..count).for_each(|it| grow(&broker.data_dir().join(format!("{topic}-{it}"))));
    }

    let started = Instant::now();
    broker.start_again();
    let took = started.elapsed();
    let (read, open) = cost_of_start(&broker);
    let resident = broker.peak_resident_bytes();
    println!(
        "{} partitions of 10 MiB: ready after {took:?}, {read} bytes read ({read_before} while they were small), {open} of their \
         files open, {resident} bytes resident at most",
        partitions()
    );
    let all = partitions() as u64;
    assert!(read < read_before + all * READ_PER_PARTITION_MAX, "{read} bytes");
    assert_eq!(open, 0);
    let mut client = broker.client();
    for (topic, count) in topics() {
        assert_eq!(log_end(&mut client, &topic, 0), 2, "it is believed");
        assert_eq!(log_end(&mut client, &topic, count - 1), 2);
    }
}
