//! `klamm produce`: a record for each line of standard input.

use std::{collections::BTreeMap, io::stdin};

use anyhow::Context as _;
use kafka_protocol::{
    messages::{
        ProduceRequest,
        produce_request::{PartitionProduceData, TopicProduceData},
    },
    protocol::StrBytes,
};

use super::{
    arguments::Produce,
    client::{Client, check},
    records::partition_of,
};
use crate::{
    telemetry,
    wire::record_batch::{BatchBuilder, Compression, RecordParts},
};

/// Lines and bytes that go out together.
const BATCH_RECORDS_MAX: usize = 1_000;
const BATCH_BYTES_MAX: usize = 512 * 1024;

/// Lines of one partition, keys apart.
type Lines = Vec<(Option<Vec<u8>>, Vec<u8>)>;

pub(super) fn run(arguments: &Produce) -> anyhow::Result<()> {
    let mut client = Client::connect(&arguments.at.bootstrap)?;
    let partitions = client.partitions(&arguments.topic, true)?;
    let mut producer = Producer { arguments, client, partitions, turn: 0, sent: 0 };
    let mut lines = stdin().lock();
    loop {
        let batch = read_lines(&mut lines)?;
        if batch.is_empty() {
            break;
        }
        producer.send(batch)?;
    }
    eprintln!("{} records sent to {}", producer.sent, arguments.topic);
    Ok(())
}

fn read_lines(input: &mut impl std::io::BufRead) -> anyhow::Result<Vec<Vec<u8>>> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    while lines.len() < BATCH_RECORDS_MAX && bytes < BATCH_BYTES_MAX {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        bytes += line.len();
        lines.push(line);
    }
    Ok(lines)
}

struct Producer<'a> {
    arguments: &'a Produce,
    client: Client,
    partitions: Vec<i32>,
    /// Whose turn it is among the partitions, for records without a key.
    turn: usize,
    sent: usize,
}

impl Producer<'_> {
    fn send(&mut self, lines: Vec<Vec<u8>>) -> anyhow::Result<()> {
        let count = lines.len();
        let mut by_partition: BTreeMap<i32, Lines> = BTreeMap::new();
        for line in lines {
            let (key, value) = self.key_and_value(line);
            let partition = self.partition(key.as_deref())?;
            by_partition.entry(partition).or_default().push((key, value));
        }
        self.turn += 1;
        let data = by_partition.iter().filter_map(|(&partition, lines)| {
            let records = batch(lines)?.bytes;
            Some(PartitionProduceData::default().with_index(partition).with_records(Some(records)))
        });
        let topic = TopicProduceData::default()
            .with_name(StrBytes::from_string(self.arguments.topic.clone()).into())
            .with_partition_data(data.collect());
        let request = ProduceRequest::default()
            .with_acks(-1)
            .with_timeout_ms(30_000)
            .with_topic_data(vec![topic]);
        let answer = self.client.call(9, &request)?;
        for it in answer.responses.iter().flat_map(|it| &it.partition_responses) {
            let what = format!("{}-{}", self.arguments.topic, it.index);
            check(&what, it.error_code, it.error_message.as_ref())?;
        }
        self.sent += count;
        Ok(())
    }

    fn key_and_value(&self, line: Vec<u8>) -> (Option<Vec<u8>>, Vec<u8>) {
        let Some(separator) = self.arguments.key_separator.as_ref().filter(|it| !it.is_empty())
        else {
            return (None, line);
        };
        let at = line.windows(separator.len()).position(|it| it == separator.as_bytes());
        match at.and_then(|at| Some((line.get(..at)?, line.get(at + separator.len()..)?))) {
            Some((key, value)) => (Some(key.to_vec()), value.to_vec()),
            None => (None, line),
        }
    }

    fn partition(&self, key: Option<&[u8]>) -> anyhow::Result<i32> {
        if let Some(partition) = self.arguments.partition {
            return Ok(partition);
        }
        let count = self.partitions.len();
        let index = key.map_or_else(|| self.turn % count.max(1), |key| partition_of(key, count));
        self.partitions.get(index).copied().context("the topic has no partitions")
    }
}

fn batch(lines: &Lines) -> Option<crate::wire::record_batch::Batch> {
    let mut builder = BatchBuilder::new(telemetry::now(), Compression::None);
    for (delta, (key, value)) in lines.iter().enumerate() {
        builder.push(&RecordParts {
            offset_delta: delta as i32,
            timestamp_delta: 0,
            key: key.as_deref(),
            value: Some(value),
            headers: Vec::new(),
        });
    }
    builder.build()
}
