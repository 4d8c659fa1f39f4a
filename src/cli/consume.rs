//! `klamm consume`: prints records, a line each.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Write, stderr},
    time::Duration,
};

use anyhow::bail;
use bytes::Bytes;
use kafka_protocol::messages::{
    FetchRequest,
    fetch_request::{FetchPartition, FetchTopic},
};

use super::{
    arguments::Consume,
    client::{Client, check, known_partition, text},
    layout::Layout,
    offsets::{EARLIEST, LATEST, offsets},
    output::{Output, output, tell},
};
use crate::wire::record_batch::split;

/// Most that a batch may expand to.
const DECOMPRESSED_BYTES_MAX: usize = 64 * 1024 * 1024;
const FETCH_WAIT_MS: i32 = 500;
const OPENING_ATTEMPTS_MAX: usize = 20;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(100);

pub(super) fn run(arguments: &Consume) -> anyhow::Result<()> {
    let mut client = Client::connect(&arguments.at.bootstrap)?;
    let mut partitions = client.partitions(&arguments.topic)?;
    if let Some(index) = arguments.partition {
        partitions = vec![known_partition(&arguments.topic, &partitions, index)?];
    }
    let (positions, out) = (BTreeMap::new(), output());
    let layout = Layout::new(arguments);
    let mut consumer = Consumer { arguments, client, positions, layout, out, printed: 0 };
    let start = if arguments.new { LATEST } else { EARLIEST };
    consumer.positions = consumer.offsets(&partitions, start)?;
    let ends = if arguments.exit { Some(consumer.offsets(&partitions, LATEST)?) } else { None };
    let mut may_tell = ends.is_none() && stderr().is_terminal();
    while !consumer.is_done(ends.as_ref()) {
        let is_at_end = !consumer.fetch()?;
        if is_at_end && std::mem::take(&mut may_tell) {
            tell("waiting for records; Ctrl-C ends");
        }
    }
    Ok(())
}

struct Consumer<'a> {
    arguments: &'a Consume,
    client: Client,
    /// The next offset of each partition.
    positions: BTreeMap<i32, i64>,
    layout: Layout<'a>,
    out: Output,
    printed: u64,
}

impl Consumer<'_> {
    fn is_done(&self, ends: Option<&BTreeMap<i32, i64>>) -> bool {
        let enough = self.arguments.max_records.is_some_and(|max| self.printed >= max);
        let at_end = |ends: &BTreeMap<i32, i64>| {
            self.positions
                .iter()
                .all(|(partition, at)| ends.get(partition).is_none_or(|end| at >= end))
        };
        enough || ends.is_some_and(at_end)
    }

    /// A partition that was made this moment may not be open yet: asks again for a while.
    fn offsets(
        &mut self,
        partitions: &[i32],
        timestamp: i64,
    ) -> anyhow::Result<BTreeMap<i32, i64>> {
        let topic = &self.arguments.topic;
        for _ in 0..OPENING_ATTEMPTS_MAX {
            let asked = partitions.iter().map(|&it| (topic.clone(), it));
            let found = offsets(&mut self.client, asked, timestamp)?;
            if found.len() == partitions.len() {
                return Ok(found.into_iter().map(|((_, index), offset)| (index, offset)).collect());
            }
            std::thread::sleep(ATTEMPT_PAUSE);
        }
        bail!("{topic}: its partitions are not open")
    }

    /// Prints what there is, or comes within the wait. `false` when that is nothing.
    fn fetch(&mut self) -> anyhow::Result<bool> {
        let asked = self.positions.iter().map(|(&partition, &offset)| {
            FetchPartition::default()
                .with_partition(partition)
                .with_fetch_offset(offset)
                .with_partition_max_bytes(1024 * 1024)
        });
        let topic = FetchTopic::default()
            .with_topic(text(&self.arguments.topic).into())
            .with_partitions(asked.collect());
        let request = FetchRequest::default()
            .with_max_wait_ms(FETCH_WAIT_MS)
            .with_min_bytes(1)
            .with_max_bytes(16 * 1024 * 1024)
            .with_topics(vec![topic]);
        let answer = self.client.call(11, &request)?;
        let mut has_more = false;
        for it in answer.responses.into_iter().flat_map(|it| it.partitions) {
            let what = format!("{}-{}", self.arguments.topic, it.partition_index);
            check(&what, it.error_code, None)?;
            let records = it.records.unwrap_or_default();
            has_more |= !records.is_empty();
            self.print(it.partition_index, records)?;
        }
        Ok(has_more)
    }

    fn print(&mut self, partition: i32, records: Bytes) -> anyhow::Result<()> {
        for batch in split(records)? {
            let from = self.positions.get(&partition).copied().unwrap_or(0);
            if !batch.header.attributes.is_control() {
                for record in batch.decode(DECOMPRESSED_BYTES_MAX)?.records() {
                    let offset = batch.header.base_offset.0 + i64::from(record.offset_delta());
                    if offset >= from && self.may_print() {
                        self.layout.write(partition, &batch.header, record, &mut self.out)?;
                        self.printed += 1;
                    }
                }
            }
            let next = batch.header.last_offset().0 + 1;
            if next <= from {
                bail!("the broker sent records from before the offset that was asked for");
            }
            self.positions.insert(partition, next);
        }
        Ok(self.out.flush()?)
    }

    fn may_print(&self) -> bool {
        self.arguments.max_records.is_none_or(|max| self.printed < max)
    }
}
