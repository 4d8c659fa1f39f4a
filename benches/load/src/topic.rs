//! Topics to measure on: made, looked at and deleted over the protocol, as any broker has it.

use crate::connection::{call, connect};
use anyhow::{Result, ensure};
use clap::Args;
use kafka_protocol::{
    messages::{
        CreateTopicsRequest, DeleteTopicsRequest, TopicName,
        create_topics_request::{CreatableTopic, CreatableTopicConfig},
        delete_topics_request::DeleteTopicState,
    },
    protocol::StrBytes,
};

const CREATE_VERSION: i16 = 7;
const DELETE_VERSION: i16 = 6;
const TIMEOUT_MS: i32 = 60_000;

#[derive(Args)]
pub(crate) struct Create {
    #[arg(long)]
    bootstrap: String,
    #[arg(long)]
    topic: String,
    #[arg(long)]
    partitions: i32,
}

#[derive(Args)]
pub(crate) struct Delete {
    #[arg(long)]
    bootstrap: String,
    #[arg(long)]
    topic: String,
}

pub(crate) fn name(topic: &str) -> TopicName {
    TopicName(StrBytes::from_string(topic.to_owned()))
}

/// Its files go a second after the topic, not after a minute: a disk holds only so many measurements.
pub(crate) async fn create(arguments: Create) -> Result<()> {
    let soon = CreatableTopicConfig::default()
        .with_name(StrBytes::from_static_str("file.delete.delay.ms"))
        .with_value(Some(StrBytes::from_static_str("1000")));
    let topic = CreatableTopic::default()
        .with_name(name(&arguments.topic))
        .with_num_partitions(arguments.partitions)
        .with_replication_factor(1)
        .with_configs(vec![soon]);
    let request =
        CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(TIMEOUT_MS);
    let mut stream = connect(&arguments.bootstrap).await?;
    let answer = call(&mut stream, CREATE_VERSION, &request).await?;
    let codes: Vec<_> = answer.topics.iter().map(|it| it.error_code).collect();
    ensure!(codes == [0], "create {}: errors {codes:?}", arguments.topic);
    Ok(())
}

pub(crate) async fn delete(arguments: Delete) -> Result<()> {
    let topic = DeleteTopicState::default().with_name(Some(name(&arguments.topic)));
    let request =
        DeleteTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(TIMEOUT_MS);
    let mut stream = connect(&arguments.bootstrap).await?;
    let answer = call(&mut stream, DELETE_VERSION, &request).await?;
    let codes: Vec<_> = answer.responses.iter().map(|it| it.error_code).collect();
    ensure!(codes == [0], "delete {}: errors {codes:?}", arguments.topic);
    Ok(())
}
