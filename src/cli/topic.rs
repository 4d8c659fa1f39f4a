//! `klamm topic`: makes, lists, describes, alters and deletes topics.

use std::io::{Write as _, stdout};

use anyhow::Context as _;
use kafka_protocol::{
    messages::{
        CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest, DescribeConfigsRequest,
        IncrementalAlterConfigsRequest,
        create_partitions_request::CreatePartitionsTopic,
        create_topics_request::{CreatableTopic, CreatableTopicConfig},
        describe_configs_request::DescribeConfigsResource,
        incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig},
    },
    protocol::StrBytes,
};

use super::{
    arguments::Topic,
    client::{Client, check, key_value},
};

/// Resource types of configs.
pub(super) const TOPIC: i8 = 2;
pub(super) const GROUP: i8 = 32;
/// Operations of IncrementalAlterConfigs (KIP-339).
const SET: i8 = 0;
const DELETE: i8 = 1;
/// A config's source when it is not set anywhere.
const DEFAULT_CONFIG: i8 = 5;
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
            if let Some(count) = partitions {
                grow(client, &name, count)?;
            }
            alter_configs(client, TOPIC, &name, &config, &delete_config)
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
        writeln!(stdout(), "{name}: partitions: {}", topic.num_partitions)?;
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
    for name in names {
        writeln!(stdout(), "{name}")?;
    }
    Ok(())
}

fn describe(client: &mut Client, name: &str) -> anyhow::Result<()> {
    let answer = client.metadata(Some(name), false)?;
    let topic = answer.topics.first().context("the broker did not answer for the topic")?;
    check(name, topic.error_code, None)?;
    let mut out = stdout();
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
    for (key, value) in configs(client, name)? {
        writeln!(out, "  {key}={value}")?;
    }
    Ok(())
}

/// The configs that are not at Kafka's default.
fn configs(client: &mut Client, name: &str) -> anyhow::Result<Vec<(String, String)>> {
    let resource =
        DescribeConfigsResource::default().with_resource_type(TOPIC).with_resource_name(text(name));
    let request = DescribeConfigsRequest::default().with_resources(vec![resource]);
    let mut found = Vec::new();
    for result in client.call(4, &request)?.results {
        check(name, result.error_code, result.error_message.as_ref())?;
        let set = result.configs.into_iter().filter(|it| it.config_source != DEFAULT_CONFIG);
        found.extend(set.map(|it| (it.name.to_string(), it.value.unwrap_or_default().to_string())));
    }
    Ok(found)
}

fn grow(client: &mut Client, name: &str, count: i32) -> anyhow::Result<()> {
    let topic = CreatePartitionsTopic::default().with_name(text(name).into()).with_count(count);
    let request =
        CreatePartitionsRequest::default().with_topics(vec![topic]).with_timeout_ms(TIMEOUT_MS);
    for result in client.call(3, &request)?.results {
        check(name, result.error_code, result.error_message.as_ref())?;
        writeln!(stdout(), "{name}: partitions: {count}")?;
    }
    Ok(())
}

/// Sets and removes configs of a topic or group, in one request.
pub(super) fn alter_configs(
    client: &mut Client,
    resource_type: i8,
    name: &str,
    sets: &[String],
    deletes: &[String],
) -> anyhow::Result<()> {
    if sets.is_empty() && deletes.is_empty() {
        return Ok(());
    }
    let mut configs = Vec::new();
    for set in sets {
        let (key, value) = key_value(set)?;
        configs.push(
            AlterableConfig::default()
                .with_name(key)
                .with_value(Some(value))
                .with_config_operation(SET),
        );
    }
    configs.extend(
        deletes.iter().map(|key| {
            AlterableConfig::default().with_name(text(key)).with_config_operation(DELETE)
        }),
    );
    let resource = AlterConfigsResource::default()
        .with_resource_type(resource_type)
        .with_resource_name(text(name))
        .with_configs(configs);
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
    for response in client.call(1, &request)?.responses {
        check(name, response.error_code, response.error_message.as_ref())?;
        writeln!(stdout(), "{name}: altered")?;
    }
    Ok(())
}

fn delete(client: &mut Client, name: &str) -> anyhow::Result<()> {
    let request = DeleteTopicsRequest::default()
        .with_topic_names(vec![text(name).into()])
        .with_timeout_ms(TIMEOUT_MS);
    for response in client.call(5, &request)?.responses {
        check(name, response.error_code, response.error_message.as_ref())?;
        writeln!(stdout(), "{name}: deleted")?;
    }
    Ok(())
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}
