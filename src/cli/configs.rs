//! Configs of topics, groups and brokers, over the protocol: shown and altered.

use anyhow::bail;
use kafka_protocol::{
    messages::{
        DescribeConfigsRequest, IncrementalAlterConfigsRequest,
        describe_configs_request::DescribeConfigsResource,
        incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig},
    },
    protocol::StrBytes,
};

use super::{
    client::{Client, check, key_value, text},
    output::print,
};
use crate::config::nearest;

/// Types of resources.
pub(super) const TOPIC: i8 = 2;
pub(super) const BROKER: i8 = 4;
pub(super) const GROUP: i8 = 32;
/// Operations of IncrementalAlterConfigs (KIP-339).
const SET: i8 = 0;
const DELETE: i8 = 1;
/// A config's source when it is not set anywhere.
const DEFAULT_CONFIG: i8 = 5;

/// A config as it is in effect.
pub(super) struct Config {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) is_default: bool,
}

/// All configs of a resource.
pub(super) fn describe(
    client: &mut Client,
    resource_type: i8,
    name: &str,
) -> anyhow::Result<Vec<Config>> {
    let resource = DescribeConfigsResource::default()
        .with_resource_type(resource_type)
        .with_resource_name(text(name));
    let request = DescribeConfigsRequest::default().with_resources(vec![resource]);
    let mut found = Vec::new();
    for result in client.call(4, &request)?.results {
        check(name, result.error_code, result.error_message.as_ref())?;
        found.extend(result.configs.into_iter().map(|it| Config {
            name: it.name.to_string(),
            value: it.value.unwrap_or_default().to_string(),
            is_default: it.config_source == DEFAULT_CONFIG,
        }));
    }
    Ok(found)
}

/// Sets and removes configs of a topic or group, in one request.
///
/// A broker takes the removal of a config that nothing has, so a slip of the finger is refused here.
pub(super) fn alter(
    client: &mut Client,
    resource_type: i8,
    name: &str,
    sets: &[String],
    deletes: &[String],
) -> anyhow::Result<()> {
    if sets.is_empty() && deletes.is_empty() {
        return Ok(());
    }
    if !deletes.is_empty() {
        let known = describe(client, resource_type, name)?;
        deletes.iter().try_for_each(|key| check_known(key, &known))?;
    }
    let resource = AlterConfigsResource::default()
        .with_resource_type(resource_type)
        .with_resource_name(text(name))
        .with_configs(changes(sets, deletes)?);
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
    for response in client.call(1, &request)?.responses {
        check(name, response.error_code, response.error_message.as_ref())?;
        print(format_args!("{name}: altered"))?;
    }
    Ok(())
}

fn check_known(key: &str, known: &[Config]) -> anyhow::Result<()> {
    let names = || known.iter().map(|it| it.name.as_str());
    if names().any(|it| it == key) {
        return Ok(());
    }
    let hint = nearest(key, names()).map(|it| format!("; did you mean {it}?"));
    bail!("there is no config {key}{}", hint.unwrap_or_default())
}

fn changes(sets: &[String], deletes: &[String]) -> anyhow::Result<Vec<AlterableConfig>> {
    let change = |key: StrBytes, value, operation| {
        AlterableConfig::default().with_name(key).with_value(value).with_config_operation(operation)
    };
    let sets = sets.iter().map(|set| {
        let (key, value) = key_value(set)?;
        Ok(change(key, Some(value), SET))
    });
    let deletes = deletes.iter().map(|key| Ok(change(text(key), None, DELETE)));
    sets.chain(deletes).collect()
}
