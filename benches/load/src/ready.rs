//! When is a broker ready? When it answers; and with a topic, when each of its partitions does.

use crate::{
    connection::{call, connect},
    topic,
};
use anyhow::{Result, ensure};
use clap::Args;
use kafka_protocol::messages::{
    BrokerId, ListOffsetsRequest, MetadataRequest,
    list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
    metadata_request::MetadataRequestTopic,
};
use std::time::Duration;
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};

const METADATA_VERSION: i16 = 9;
const LIST_OFFSETS_VERSION: i16 = 6;
const LATEST: i64 = -1;
const ASK_EVERY: Duration = Duration::from_millis(2);

#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(long)]
    bootstrap: String,
    #[arg(long, requires = "partitions")]
    topic: Option<String>,
    #[arg(long, default_value_t = 0)]
    partitions: i32,
    #[arg(long, default_value_t = 120)]
    timeout_seconds: u64,
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    let asking = async {
        while ask(&arguments).await.is_err() {
            sleep(ASK_EVERY).await;
        }
    };
    timeout(Duration::from_secs(arguments.timeout_seconds), asking).await?;
    Ok(())
}

async fn ask(arguments: &Arguments) -> Result<()> {
    let mut stream = connect(&arguments.bootstrap).await?;
    let topic = arguments.topic.as_ref();
    let topics = topic.map(|it| MetadataRequestTopic::default().with_name(Some(topic::name(it))));
    let request = MetadataRequest::default().with_topics(Some(topics.into_iter().collect()));
    let answer = call(&mut stream, METADATA_VERSION, &request).await?;
    ensure!(!answer.brokers.is_empty(), "the broker is not registered");
    match topic {
        Some(topic) => ask_partitions(&mut stream, topic, arguments.partitions).await,
        None => Ok(()),
    }
}

async fn ask_partitions(stream: &mut TcpStream, topic: &str, partitions: i32) -> Result<()> {
    let ends = (0..partitions).map(|index| {
        ListOffsetsPartition::default().with_partition_index(index).with_timestamp(LATEST)
    });
    let topic =
        ListOffsetsTopic::default().with_name(topic::name(topic)).with_partitions(ends.collect());
    let request =
        ListOffsetsRequest::default().with_replica_id(BrokerId(-1)).with_topics(vec![topic]);
    let answer = call(stream, LIST_OFFSETS_VERSION, &request).await?;
    let mut codes = answer.topics.iter().flat_map(|it| &it.partitions).map(|it| it.error_code);
    ensure!(codes.all(|code| code == 0), "a partition is not served yet");
    Ok(())
}
