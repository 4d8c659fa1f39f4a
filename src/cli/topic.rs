//! `klamm topic`: makes, lists, describes, alters and deletes topics.

use std::io::Write as _;

use anyhow::bail;
use kafka_protocol::messages::{
    CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    create_partitions_request::CreatePartitionsTopic,
    create_topics_request::{CreatableTopic, CreatableTopicConfig},
};

use super::{
    arguments::Topic,
    client::{Client, check, key_value, text},
    configs::{self, TOPIC},
    output::{output, print},
};

const TIMEOUT_MS: i32 = 30_000;

pub(super) fn run(command: Topic) -> anyhow::Result<()> {
    match command {
        Topic::Create { name, partitions, config, at } => {
            create(&mut Client::connect(&at.bootstrap)?, &name, partitions, &config)
        }
        Topic::List { all, at } => list(&mut Client::connect(&at.bootstrap)?, all),
        Topic::Describe { name, at } => describe(&mut Client::connect(&at.bootstrap)?, &name),
        Topic::Alter { name, config, delete_config, partitions, at } => {
            let client = &mut Client::connect(&at.bootstrap)?;
            client.topic(&name)?;
            let grown = partitions.map_or(Ok(()), |count| grow(client, &name, count));
            let altered = configs::alter(client, TOPIC, &name, &config, &delete_config);
            both(grown, altered)
        }
        Topic::Delete { name, at } => delete(&mut Client::connect(&at.bootstrap)?, &name),
    }
}

fn create(
    client: &mut Client,
    name: &str,
    partitions: Option<i32>,
    configs: &[String],
) -> anyhow::Result<()> {
    let configs = configs.iter().map(|it| {
        let (key, value) = key_value(it)?;
        Ok(CreatableTopicConfig::default().with_name(key).with_value(Some(value)))
    });
    let topic = CreatableTopic::default()
        .with_name(text(name).into())
        .with_num_partitions(partitions.unwrap_or(-1))
        .with_replication_factor(-1)
        .with_configs(configs.collect::<anyhow::Result<_>>()?);
    let request =
        CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(TIMEOUT_MS);
    for topic in client.call(7, &request)?.topics {
        check(name, topic.error_code, topic.error_message.as_ref())?;
        print(format_args!("{name}: partitions: {}", topic.num_partitions))?;
    }
    Ok(())
}

fn list(client: &mut Client, all: bool) -> anyhow::Result<()> {
    let mut names: Vec<String> = client
        .metadata(None, false)?
        .topics
        .into_iter()
        .filter(|it| all || !it.is_internal)
        .filter_map(|it| it.name.map(|name| name.to_string()))
        .collect();
    names.sort_unstable();
    let mut out = output();
    for name in names {
        writeln!(out, "{name}")?;
    }
    Ok(out.flush()?)
}

fn describe(client: &mut Client, name: &str) -> anyhow::Result<()> {
    let topic = client.topic(name)?;
    let mut out = output();
    writeln!(out, "{name} {}", topic.topic_id)?;
    for partition in &topic.partitions {
        let replicas: Vec<i32> = partition.replica_nodes.iter().map(|it| it.0).collect();
        let isr: Vec<i32> = partition.isr_nodes.iter().map(|it| it.0).collect();
        writeln!(
            out,
            "  partition {}: leader {} epoch {} replicas {replicas:?} isr {isr:?}",
            partition.partition_index, partition.leader_id.0, partition.leader_epoch
        )?;
    }
    for it in configs::describe(client, TOPIC, name)?.iter().filter(|it| !it.is_default) {
        writeln!(out, "  {}={}", it.name, it.value)?;
    }
    Ok(out.flush()?)
}

/// The broker places the new partitions: without a null, an empty list of assignments would be the caller's choice.
fn grow(client: &mut Client, name: &str, count: i32) -> anyhow::Result<()> {
    let topic = CreatePartitionsTopic::default()
        .with_name(text(name).into())
        .with_count(count)
        .with_assignments(None);
    let request =
        CreatePartitionsRequest::default().with_topics(vec![topic]).with_timeout_ms(TIMEOUT_MS);
    for result in client.call(3, &request)?.results {
        check(name, result.error_code, result.error_message.as_ref())?;
        print(format_args!("{name}: partitions: {count}"))?;
    }
    Ok(())
}

/// One change does not wait for the other, so both failures are told.
fn both(first: anyhow::Result<()>, second: anyhow::Result<()>) -> anyhow::Result<()> {
    match (first, second) {
        (Err(first), Err(second)) => bail!("{first:#}; {second:#}"),
        (first, second) => first.and(second),
    }
}

fn delete(client: &mut Client, name: &str) -> anyhow::Result<()> {
    client.topic(name)?;
    let request = DeleteTopicsRequest::default()
        .with_topic_names(vec![text(name).into()])
        .with_timeout_ms(TIMEOUT_MS);
    for response in client.call(5, &request)?.responses {
        check(name, response.error_code, response.error_message.as_ref())?;
        print(format_args!("{name}: deleted"))?;
    }
    Ok(())
}
