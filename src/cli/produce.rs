//! `klamm produce`: a record for each line of standard input.

use std::{
    collections::BTreeMap,
    io::{Read, stdin},
};

use anyhow::{Context as _, bail, ensure};
use kafka_protocol::messages::{
    ProduceRequest, ProduceResponse,
    produce_request::{PartitionProduceData, TopicProduceData},
    produce_response::PartitionProduceResponse,
};

use super::{
    arguments::Produce,
    client::{Client, check, known_partition, text},
    configs::{self, TOPIC},
    keyed_line::{KeyedLine, batch, named},
    lines::Lines,
    output::{counted, tell},
    records::partition_of,
};
use crate::config::topic::{PARTITIONER, PARTITIONER_MODE};

/// A request's lines, by the partitions that they go to.
type Parts = BTreeMap<i32, Vec<KeyedLine>>;

pub(super) fn run(arguments: &Produce) -> anyhow::Result<()> {
    let mut client = Client::connect(&arguments.at.bootstrap)?;
    let partitions = partitions(&mut client, arguments)?;
    let mut producer = Producer { arguments, client, partitions, turn: 0, sent: 0, without_key: 0 };
    let mut lines = Lines::new(stdin().lock());
    let ended = producer.send_all(&mut lines);
    producer.tell_counts();
    ended
}

/// Those that records may go to. A topic that was made for them may be a slip of the finger, so it is told of.
fn partitions(client: &mut Client, arguments: &Produce) -> anyhow::Result<Vec<i32>> {
    let topic = &arguments.topic;
    let (mut partitions, is_new) = client.partitions_to_produce(topic)?;
    if is_new {
        let hint = client.hint(topic)?;
        let count = partitions.len();
        tell(format_args!(
            "made the topic {topic}, which did not exist; partitions: {count}{hint}"
        ));
    }
    if let Some(index) = arguments.partition {
        return Ok(vec![known_partition(topic, &partitions, index)?]);
    }
    // The parts of a request are routed side by side: only one part keeps the order of the lines.
    if partitions.len() > 1 && is_routed(client, topic)? {
        partitions.truncate(1);
    }
    Ok(partitions)
}

/// Whether a plugin decides where the records are stored, wherever they were sent.
fn is_routed(client: &mut Client, topic: &str) -> anyhow::Result<bool> {
    let configs = configs::describe(client, TOPIC, topic)?;
    let value = |name| configs.iter().find(|it| it.name == name).map(|it| it.value.as_str());
    let has_partitioner = value(PARTITIONER).is_some_and(|it| !it.is_empty());
    Ok(has_partitioner && value(PARTITIONER_MODE) == Some("route"))
}

struct Producer<'a> {
    arguments: &'a Produce,
    client: Client,
    /// Those that records may go to.
    partitions: Vec<i32>,
    /// Whose turn it is among the partitions, for records without a key.
    turn: usize,
    /// Records that the broker acknowledged.
    sent: usize,
    /// Lines in which no separator was found.
    without_key: usize,
}

impl Producer<'_> {
    fn send_all(&mut self, lines: &mut Lines<impl Read>) -> anyhow::Result<()> {
        loop {
            let first = lines.count + 1;
            let batch = lines.batch()?;
            if batch.is_empty() {
                return Ok(());
            }
            self.send(first, batch)?;
        }
    }

    fn send(&mut self, first: usize, lines: Vec<Vec<u8>>) -> anyhow::Result<()> {
        let numbers = first..first + lines.len();
        let parts = self.parts(numbers.clone().zip(lines))?;
        self.turn += 1;
        let request = self.request(&parts);
        let answer = self.client.call(9, &request);
        self.settle(&answer.with_context(|| format!("send {}", named(numbers)))?, &parts)
    }

    fn parts(&mut self, lines: impl Iterator<Item = (usize, Vec<u8>)>) -> anyhow::Result<Parts> {
        let mut parts = Parts::new();
        for (number, line) in lines {
            let line = KeyedLine::new(number, line, self.separator());
            self.without_key += usize::from(line.key.is_none());
            let partition = self.partition(line.key.as_deref())?;
            parts.entry(partition).or_default().push(line);
        }
        Ok(parts)
    }

    fn separator(&self) -> Option<&[u8]> {
        self.arguments.key_separator.as_ref().filter(|it| !it.is_empty()).map(String::as_bytes)
    }

    fn partition(&self, key: Option<&[u8]>) -> anyhow::Result<i32> {
        let count = self.partitions.len();
        let index = key.map_or_else(|| self.turn % count.max(1), |key| partition_of(key, count));
        self.partitions.get(index).copied().context("the topic has no partitions")
    }

    fn request(&self, parts: &Parts) -> ProduceRequest {
        let data = parts.iter().filter_map(|(&partition, lines)| {
            let records = batch(lines)?.bytes;
            Some(PartitionProduceData::default().with_index(partition).with_records(Some(records)))
        });
        let topic = TopicProduceData::default()
            .with_name(text(&self.arguments.topic).into())
            .with_partition_data(data.collect());
        ProduceRequest::default().with_acks(-1).with_timeout_ms(30_000).with_topic_data(vec![topic])
    }

    /// Counts what was acknowledged, and names the lines that were not.
    fn settle(&mut self, answer: &ProduceResponse, parts: &Parts) -> anyhow::Result<()> {
        let answers = answer.responses.iter().flat_map(|it| &it.partition_responses);
        let answers: BTreeMap<i32, _> = answers.map(|it| (it.index, it)).collect();
        let mut failures = Vec::new();
        for (partition, lines) in parts {
            match self.acknowledged(*partition, answers.get(partition).copied()) {
                Ok(()) => self.sent += lines.len(),
                Err(error) => {
                    let lines = named(lines.iter().map(|it| it.number));
                    failures.push(format!("{lines}: {error}"));
                }
            }
        }
        ensure!(failures.is_empty(), "not acknowledged: {}", failures.join("; "));
        Ok(())
    }

    fn acknowledged(
        &self,
        partition: i32,
        answer: Option<&PartitionProduceResponse>,
    ) -> anyhow::Result<()> {
        let what = format!("{}-{partition}", self.arguments.topic);
        match answer {
            Some(it) => check(&what, it.error_code, it.error_message.as_ref()),
            None => bail!("{what}: the broker did not answer for it"),
        }
    }

    fn tell_counts(&self) {
        if let Some(separator) = &self.arguments.key_separator
            && self.without_key > 0
        {
            let lines = counted(self.without_key, "line");
            tell(format_args!("{lines} without `{separator}`: sent without a key"));
        }
        tell(format_args!("{} sent to {}", counted(self.sent, "record"), self.arguments.topic));
    }
}
