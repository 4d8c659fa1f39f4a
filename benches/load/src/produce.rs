//! Produces: each connection sends its frames round and round, a few in flight.

use crate::{
    batch::{self, Codec},
    connection::{Answers, connect, decode, frame},
    consume::{self, Sent},
    paced::Paced,
    tally::{Shared, Window},
    topic,
};
use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use clap::Args;
use kafka_protocol::messages::{
    ProduceRequest,
    produce_request::{PartitionProduceData, TopicProduceData},
};
use std::{
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpStream, tcp::OwnedWriteHalf},
    sync::mpsc,
    task::JoinSet,
};

const VERSION: i16 = 9;
const TIMEOUT_MS: i32 = 30_000;

#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(long)]
    bootstrap: String,
    #[arg(long)]
    topic: String,
    #[arg(long)]
    partitions: usize,
    #[arg(long)]
    record_bytes: usize,
    /// Records in a batch
    #[arg(long)]
    batch_records: u32,
    /// Batches in a request, each for another partition
    #[arg(long, default_value_t = 1)]
    request_batches: usize,
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    acks: i16,
    #[arg(long, value_enum, default_value_t = Codec::None)]
    codec: Codec,
    #[arg(long, default_value_t = 1)]
    connections: usize,
    /// Requests in flight on a connection
    #[arg(long, default_value_t = 5)]
    in_flight: usize,
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    #[arg(long, default_value_t = 1.0)]
    warm_up_seconds: f64,
    #[arg(long, default_value_t = u64::MAX)]
    max_bytes: u64,
    /// Requests a second, of all connections together; without it, as many as go
    #[arg(long)]
    rate: Option<f64>,
    /// Consume what was produced, and measure from when it was due to when it came (on a new topic)
    #[arg(long)]
    end_to_end: bool,
}

/// A request as it is sent.
struct Frame {
    bytes: Bytes,
    partitions: Vec<usize>,
    /// Of the batches alone.
    batch_bytes: u64,
    records: u64,
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    let batch = batch::encode(arguments.batch_records, arguments.record_bytes, arguments.codec)?;
    let tally = Shared::default();
    let mut tasks = JoinSet::new();
    let mut sent = None;
    if arguments.end_to_end {
        ensure!(arguments.connections <= arguments.partitions, "a partition has one producer");
        let times = Sent::new(arguments.partitions, arguments.batch_records);
        let (bootstrap, topic) = (arguments.bootstrap.clone(), arguments.topic.clone());
        tasks.spawn_local(consume::follow(bootstrap, topic, times.clone(), tally.clone()));
        sent = Some(times);
    }
    for index in 0..arguments.connections {
        let frames = frames(&arguments, index, &batch)?;
        let producer = Producer {
            frames,
            paced: Paced::new(arguments.rate, index, arguments.connections),
            tally: tally.clone(),
            sent: sent.clone(),
        };
        let stream = connect(&arguments.bootstrap).await?;
        producer.start(stream, arguments.in_flight, &mut tasks);
    }
    let window = Window {
        warm_up: Duration::from_secs_f64(arguments.warm_up_seconds),
        seconds: arguments.seconds,
        max_bytes: arguments.max_bytes,
    };
    window.measure(&tally, tasks).await
}

/// Connections share partitions only where there are more of them.
fn frames(arguments: &Arguments, index: usize, batch: &Bytes) -> Result<Rc<[Frame]>> {
    let first = index % arguments.partitions;
    let own: Vec<_> = (first..arguments.partitions).step_by(arguments.connections).collect();
    own.chunks(arguments.request_batches.max(1))
        .map(|partitions| encode(arguments, partitions, batch))
        .collect()
}

fn encode(arguments: &Arguments, partitions: &[usize], batch: &Bytes) -> Result<Frame> {
    let data = partitions.iter().map(|&index| {
        PartitionProduceData::default().with_index(index as i32).with_records(Some(batch.clone()))
    });
    let topic = TopicProduceData::default()
        .with_name(topic::name(&arguments.topic))
        .with_partition_data(data.collect());
    let request = ProduceRequest::default()
        .with_acks(arguments.acks)
        .with_timeout_ms(TIMEOUT_MS)
        .with_topic_data(vec![topic]);
    Ok(Frame {
        bytes: frame(VERSION, &request)?,
        partitions: partitions.to_vec(),
        batch_bytes: (batch.len() * partitions.len()) as u64,
        records: u64::from(arguments.batch_records) * partitions.len() as u64,
    })
}

/// One connection.
struct Producer {
    frames: Rc<[Frame]>,
    paced: Paced,
    tally: Shared,
    sent: Option<Sent>,
}

impl Producer {
    /// The channel between its two halves is the window of requests in flight.
    fn start(self, stream: TcpStream, in_flight: usize, tasks: &mut JoinSet<Result<()>>) {
        let (reader, writer) = stream.into_split();
        let (begun, due) = mpsc::channel(in_flight);
        let (frames, tally) = (self.frames.clone(), self.tally.clone());
        tasks.spawn_local(self.send(writer, begun));
        tasks.spawn_local(receive(Answers::new(reader), frames, due, tally));
    }

    async fn send(
        mut self,
        mut writer: OwnedWriteHalf,
        begun: mpsc::Sender<Instant>,
    ) -> Result<()> {
        let frames = self.frames.clone();
        for frame in frames.iter().cycle() {
            let slot = begun.reserve().await.context("the answers ended")?;
            let due = self.paced.next().await;
            slot.send(due);
            if let Some(sent) = &self.sent {
                sent.note(&frame.partitions, due);
            }
            writer.write_all(&frame.bytes).await?;
        }
        Ok(())
    }
}

async fn receive<R: tokio::io::AsyncRead + Unpin>(
    mut answers: Answers<R>,
    frames: Rc<[Frame]>,
    mut due: mpsc::Receiver<Instant>,
    tally: Shared,
) -> Result<()> {
    for frame in frames.iter().cycle() {
        let answer = answers.next().await?;
        check(answer)?;
        let due = due.recv().await.context("an answer without a request")?;
        let mut tally = tally.borrow_mut();
        tally.requests += 1;
        tally.records += frame.records;
        tally.bytes += frame.batch_bytes;
        tally.latency.add(due);
    }
    Ok(())
}

fn check(answer: Bytes) -> Result<()> {
    let answer = decode::<ProduceRequest>(VERSION, answer)?;
    let partitions = answer.responses.iter().flat_map(|it| &it.partition_responses);
    for partition in partitions {
        let code = partition.error_code;
        ensure!(code == 0, "partition {}: error {code}", partition.index);
    }
    Ok(())
}
