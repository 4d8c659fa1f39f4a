//! `klamm produce`: a record for each line of standard input.

use std::{
    collections::BTreeMap,
    io::{Read, stdin},
};

use anyhow::Context as _;
use kafka_protocol::messages::{
    ProduceRequest,
    produce_request::{PartitionProduceData, TopicProduceData},
};

use super::{
    arguments::Produce,
    client::{Client, check, known_partition, text},
    lines::Lines,
    output::tell,
    records::partition_of,
};
use crate::{
    telemetry,
    wire::record_batch::{BatchBuilder, Compression, RecordParts},
};

/// Records of one partition.
type KeyValues = Vec<(Option<Vec<u8>>, Vec<u8>)>;

pub(super) fn run(arguments: &Produce) -> anyhow::Result<()> {
    let mut client = Client::connect(&arguments.at.bootstrap)?;
    let partitions = partitions(&mut client, arguments)?;
    let mut producer = Producer { arguments, client, partitions, turn: 0, sent: 0 };
    let mut lines = Lines::new(stdin().lock());
    let ended = producer.send_all(&mut lines);
    tell(format_args!("{} records sent to {}", producer.sent, arguments.topic));
    ended
}

/// Those that records may go to. A topic that was made for them may be a slip of the finger, so it is told of.
fn partitions(client: &mut Client, arguments: &Produce) -> anyhow::Result<Vec<i32>> {
    let topic = &arguments.topic;
    let (partitions, is_new) = client.partitions_to_produce(topic)?;
    if is_new {
        let hint = client.hint(topic)?;
        let count = partitions.len();
        tell(format_args!(
            "made the topic {topic}, which did not exist; partitions: {count}{hint}"
        ));
    }
    match arguments.partition {
        Some(index) => Ok(vec![known_partition(topic, &partitions, index)?]),
        None => Ok(partitions),
    }
}

struct Producer<'a> {
    arguments: &'a Produce,
    client: Client,
    /// Those that records may go to.
    partitions: Vec<i32>,
    /// Whose turn it is among the partitions, for records without a key.
    turn: usize,
    sent: usize,
}

impl Producer<'_> {
    fn send_all(&mut self, lines: &mut Lines<impl Read>) -> anyhow::Result<()> {
        loop {
            let first = lines.count + 1;
            let batch = lines.batch()?;
            if batch.is_empty() {
                return Ok(());
            }
            self.send(batch).with_context(|| format!("send lines {first} to {}", lines.count))?;
        }
    }

    fn send(&mut self, lines: Vec<Vec<u8>>) -> anyhow::Result<()> {
        let count = lines.len();
        let mut by_partition: BTreeMap<i32, KeyValues> = BTreeMap::new();
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
            .with_name(text(&self.arguments.topic).into())
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
        let count = self.partitions.len();
        let index = key.map_or_else(|| self.turn % count.max(1), |key| partition_of(key, count));
        self.partitions.get(index).copied().context("the topic has no partitions")
    }
}

fn batch(records: &KeyValues) -> Option<crate::wire::record_batch::Batch> {
    let mut builder = BatchBuilder::new(telemetry::now(), Compression::None);
    for (delta, (key, value)) in records.iter().enumerate() {
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
