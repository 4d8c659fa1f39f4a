//! Consumes: each connection fetches its partitions over and over, and drops what comes.

use crate::{
    connection::{Answers, connect, decode, frame},
    tally::{Shared, Window},
    topic,
};
use anyhow::{Context as _, Result, ensure};
use bytes::{Buf as _, Bytes};
use clap::Args;
use kafka_protocol::messages::{
    BrokerId, FetchRequest, FetchResponse,
    fetch_request::{FetchPartition, FetchTopic},
    fetch_response::PartitionData,
};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::tcp::{OwnedReadHalf, OwnedWriteHalf},
    task::JoinSet,
};

const VERSION: i16 = 12;
/// Kafka's defaults for consumers.
const FETCH_BYTES_MAX: i32 = 50 << 20;
const PARTITION_BYTES_MAX: i32 = 1 << 20;
const WAIT_MS: i32 = 500;

#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(long)]
    bootstrap: String,
    #[arg(long)]
    topic: String,
    #[arg(long)]
    partitions: usize,
    #[arg(long, default_value_t = 1)]
    connections: usize,
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// End when all was read, rather than begin again
    #[arg(long)]
    once: bool,
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    let tally = Shared::default();
    let mut tasks = JoinSet::new();
    for index in 0..arguments.connections {
        let own = (index..arguments.partitions).step_by(arguments.connections);
        let consumer = Consumer::new(&arguments.bootstrap, &arguments.topic, own).await?;
        tasks.spawn_local(consumer.catch_up(arguments.once, tally.clone()));
    }
    let seconds = arguments.seconds;
    let window = Window { warm_up: Duration::ZERO, seconds, max_bytes: u64::MAX };
    window.measure(&tally, tasks).await
}

/// Reads the end of all partitions of a topic that is being produced to.
pub(crate) async fn follow(
    bootstrap: String,
    topic: String,
    sent: Sent,
    tally: Shared,
) -> Result<()> {
    let partitions = 0..sent.times.borrow().len();
    let mut consumer = Consumer::new(&bootstrap, &topic, partitions).await?;
    loop {
        let answer = consumer.fetch().await?;
        consumer.read(&answer, |partition, batch| {
            if let Some(due) = sent.due(partition, batch.base_offset) {
                tally.borrow_mut().end_to_end.add(due);
            }
        })?;
    }
}

/// When the batches of each partition were due; a partition has one producer, so that an offset tells which batch it is.
#[derive(Clone)]
pub(crate) struct Sent {
    times: Rc<RefCell<Vec<Vec<Instant>>>>,
    batch_records: i64,
}

impl Sent {
    pub(crate) fn new(partitions: usize, batch_records: u32) -> Self {
        let times = Rc::new(RefCell::new(vec![Vec::new(); partitions]));
        Self { times, batch_records: batch_records.into() }
    }

    pub(crate) fn note(&self, partitions: &[usize], due: Instant) {
        let mut times = self.times.borrow_mut();
        for &partition in partitions {
            times[partition].push(due);
        }
    }

    fn due(&self, partition: i32, base_offset: i64) -> Option<Instant> {
        let index = base_offset / self.batch_records;
        self.times.borrow().get(partition as usize)?.get(index as usize).copied()
    }
}

/// One connection's partitions, and how far it has read each.
struct Consumer {
    topic: String,
    next: BTreeMap<i32, i64>,
    answers: Answers<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

impl Consumer {
    async fn new(
        bootstrap: &str,
        topic: &str,
        partitions: impl Iterator<Item = usize>,
    ) -> Result<Self> {
        let (reader, writer) = connect(bootstrap).await?.into_split();
        Ok(Self {
            topic: topic.to_owned(),
            next: partitions.map(|it| (it as i32, 0)).collect(),
            answers: Answers::new(reader),
            writer,
        })
    }

    async fn catch_up(mut self, once: bool, tally: Shared) -> Result<()> {
        loop {
            let answer = self.fetch().await?;
            let mut tally = tally.borrow_mut();
            tally.requests += 1;
            self.read(&answer, |_, batch| {
                tally.bytes += batch.bytes as u64;
                tally.records += (batch.next_offset - batch.base_offset) as u64;
            })?;
            let ended = self.rewind_ended(&answer, once)?;
            if ended && once {
                return Ok(());
            }
        }
    }

    /// Returns whether all that came has ended. What has ended begins again, unless it is read once.
    fn rewind_ended(&mut self, answer: &FetchResponse, once: bool) -> Result<bool> {
        let mut all = true;
        for partition in partitions(answer) {
            let next = self.next.get_mut(&partition.partition_index).context("not asked for")?;
            let ended = *next >= partition.high_watermark;
            all &= ended;
            if ended && !once {
                *next = 0;
            }
        }
        Ok(all)
    }

    async fn fetch(&mut self) -> Result<FetchResponse> {
        self.writer.write_all(&frame(VERSION, &self.request())?).await?;
        let answer = decode::<FetchRequest>(VERSION, self.answers.next().await?)?;
        ensure!(answer.error_code == 0, "fetch: error {}", answer.error_code);
        Ok(answer)
    }

    fn request(&self) -> FetchRequest {
        let partition = |(&index, &offset)| {
            FetchPartition::default()
                .with_partition(index)
                .with_fetch_offset(offset)
                .with_partition_max_bytes(PARTITION_BYTES_MAX)
        };
        let topic = FetchTopic::default()
            .with_topic(topic::name(&self.topic))
            .with_partitions(self.next.iter().map(partition).collect());
        FetchRequest::default()
            .with_replica_id(BrokerId(-1))
            .with_max_wait_ms(WAIT_MS)
            .with_min_bytes(1)
            .with_max_bytes(FETCH_BYTES_MAX)
            .with_topics(vec![topic])
    }

    /// Walks over the batches that came, and goes on behind them.
    fn read(&mut self, answer: &FetchResponse, mut each: impl FnMut(i32, &Batch)) -> Result<()> {
        for partition in partitions(answer) {
            let (index, code) = (partition.partition_index, partition.error_code);
            ensure!(code == 0, "fetch partition {index}: error {code}");
            let next = self.next.get_mut(&index).context("a partition that was not asked for")?;
            let mut records = partition.records.clone().unwrap_or_default();
            while let Some(batch) = Batch::split_from(&mut records) {
                *next = batch.next_offset;
                each(index, &batch);
            }
        }
        Ok(())
    }
}

fn partitions(answer: &FetchResponse) -> impl Iterator<Item = &PartitionData> {
    answer.responses.iter().flat_map(|it| &it.partitions)
}

/// What the header of a batch tells.
struct Batch {
    base_offset: i64,
    next_offset: i64,
    bytes: usize,
}

impl Batch {
    /// The first of `records`; `None` if it is cut off or there is none.
    fn split_from(records: &mut Bytes) -> Option<Self> {
        let base_offset = i64::from_be_bytes(*records.get(..8)?.as_array()?);
        let length = i32::from_be_bytes(*records.get(8..12)?.as_array()?);
        let last_delta = i32::from_be_bytes(*records.get(23..27)?.as_array()?);
        let bytes = 12 + usize::try_from(length).ok()?;
        if records.len() < bytes {
            return None;
        }
        records.advance(bytes);
        Some(Self { base_offset, next_offset: base_offset + i64::from(last_delta) + 1, bytes })
    }
}
