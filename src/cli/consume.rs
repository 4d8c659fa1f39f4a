//! `klamm consume`: prints records, a line each.

use std::{collections::BTreeMap, io::Write, time::Duration};

use anyhow::bail;
use bytes::Bytes;
use kafka_protocol::messages::{
    FetchRequest,
    fetch_request::{FetchPartition, FetchTopic},
};

use super::{
    arguments::Consume,
    client::{Client, check, known_partition, text},
    offsets::{EARLIEST, LATEST, offsets},
    output::{Output, output},
};
use crate::wire::record_batch::{RecordView, split};

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
    let mut consumer = Consumer { arguments, client, positions, out, printed: 0 };
    let start = if arguments.new { LATEST } else { EARLIEST };
    consumer.positions = consumer.offsets(&partitions, start)?;
    let ends = if arguments.exit { Some(consumer.offsets(&partitions, LATEST)?) } else { None };
    while !consumer.is_done(ends.as_ref()) {
        consumer.fetch()?;
    }
    Ok(())
}

struct Consumer<'a> {
    arguments: &'a Consume,
    client: Client,
    /// The next offset of each partition.
    positions: BTreeMap<i32, i64>,
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

    fn fetch(&mut self) -> anyhow::Result<()> {
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
        for it in answer.responses.into_iter().flat_map(|it| it.partitions) {
            let what = format!("{}-{}", self.arguments.topic, it.partition_index);
            check(&what, it.error_code, None)?;
            self.print(it.partition_index, it.records.unwrap_or_default())?;
        }
        Ok(())
    }

    fn print(&mut self, partition: i32, records: Bytes) -> anyhow::Result<()> {
        for batch in split(records)? {
            let from = self.positions.get(&partition).copied().unwrap_or(0);
            if !batch.header.attributes.is_control() {
                for record in batch.decode(DECOMPRESSED_BYTES_MAX)?.records() {
                    let offset = batch.header.base_offset.0 + i64::from(record.offset_delta());
                    if offset >= from && self.may_print() {
                        self.print_record(record)?;
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

    fn print_record(&mut self, record: RecordView<'_>) -> anyhow::Result<()> {
        let out = &mut self.out;
        if let Some(separator) = &self.arguments.key_separator {
            out.write_all(record.key().unwrap_or_default())?;
            out.write_all(separator.as_bytes())?;
        }
        out.write_all(record.value().unwrap_or_default())?;
        out.write_all(b"\n")?;
        self.printed += 1;
        Ok(())
    }
}
