//! Configs of topics, brokers, groups and client-metrics subscriptions: changed one by one (KIP-339), or replaced as a whole (the legacy `AlterConfigs`).

use std::collections::BTreeMap;

use super::{ControllerError, LoadedPlugins, validate_topic_name};
use crate::{
    config::{
        self, Config, TopicConfigs,
        client_metrics::{Invalid, Subscription},
        group, topic,
    },
    machine::Decision,
    metadata::{ConfigResource, MetadataImage, MetadataRecord},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigOp {
    Set(String),
    Delete,
    /// Adds to a list what it does not hold.
    Append(String),
    Subtract(String),
}

/// One config to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigChange {
    pub name: String,
    pub op: ConfigOp,
}

type Results = Vec<Result<(), ControllerError>>;

/// Changes some configs of each resource; a result for each, in their order.
pub fn alter_configs(
    image: &MetadataImage,
    config: &Config,
    plugins: &LoadedPlugins,
    resources: &[(ConfigResource, Vec<ConfigChange>)],
) -> Decision<MetadataRecord, Results> {
    alter_each(image, config, plugins, resources, |resource, before, changes| {
        let mut after = before.clone();
        changes.iter().try_for_each(|it| apply(&mut after, resource, config, it))?;
        Ok(after)
    })
}

/// Replaces all configs of each resource: what is not named is removed.
pub fn replace_configs(
    image: &MetadataImage,
    config: &Config,
    plugins: &LoadedPlugins,
    resources: &[(ConfigResource, TopicConfigs)],
) -> Decision<MetadataRecord, Results> {
    alter_each(image, config, plugins, resources, |_, _, configs| Ok(configs.clone()))
}

fn alter_each<C>(
    image: &MetadataImage,
    config: &Config,
    plugins: &LoadedPlugins,
    resources: &[(ConfigResource, C)],
    after: impl Fn(&ConfigResource, &TopicConfigs, &C) -> Result<TopicConfigs, ControllerError>,
) -> Decision<MetadataRecord, Results> {
    let none = TopicConfigs::new();
    let mut seen = BTreeMap::new();
    for (resource, _) in resources {
        *seen.entry(resource).or_insert(0) += 1;
    }
    let mut records = Vec::new();
    let results = resources
        .iter()
        .map(|(resource, change)| {
            if seen.get(resource).is_some_and(|&times| times > 1) {
                return Err(ControllerError::InvalidRequest(
                    "Each resource must appear at most once.".into(),
                ));
            }
            check_exists(image, resource)?;
            let before = image.configs.get(resource).map_or(&none, |it| it);
            let after = after(resource, before, change)?;
            check(config, plugins, resource, before, &after)?;
            records.extend(difference(resource, before, &after));
            Ok(())
        })
        .collect();
    Decision::new(records, results)
}

fn check_exists(image: &MetadataImage, resource: &ConfigResource) -> Result<(), ControllerError> {
    match resource {
        ConfigResource::Topic(name) if !image.topics.contains_key(name) => {
            validate_topic_name(name.as_str()).and(Err(ControllerError::UnknownTopic))
        }
        ConfigResource::Group(group) if group.as_str().is_empty() => {
            Err(ControllerError::InvalidRequest("Default group resources are not allowed.".into()))
        }
        ConfigResource::ClientMetrics(name) if name.is_empty() => {
            Err(ControllerError::InvalidRequest("Subscription name can't be empty".into()))
        }
        ConfigResource::Topic(_)
        | ConfigResource::Broker(_)
        | ConfigResource::Group(_)
        | ConfigResource::ClientMetrics(_) => Ok(()),
    }
}

fn apply(
    configs: &mut TopicConfigs,
    resource: &ConfigResource,
    config: &Config,
    change: &ConfigChange,
) -> Result<(), ControllerError> {
    let name = &change.name;
    let items = || {
        // As in Kafka, a list that is not set begins as its default.
        let value = configs.get(name).cloned().or_else(|| list_default(resource, config, name));
        topic::list(&value.unwrap_or_default()).map(String::from).collect::<Vec<_>>()
    };
    let value = match &change.op {
        ConfigOp::Set(value) => value.clone(),
        ConfigOp::Delete => {
            configs.remove(name);
            return Ok(());
        }
        ConfigOp::Append(more) => {
            check_list(resource, name, "APPEND")?;
            let mut items = items();
            for item in topic::list(more) {
                if !items.iter().any(|it| it == item) {
                    items.push(item.into());
                }
            }
            items.join(",")
        }
        ConfigOp::Subtract(less) => {
            check_list(resource, name, "SUBTRACT")?;
            let mut items = items();
            items.retain(|it| !topic::list(less).any(|less| less == it));
            items.join(",")
        }
    };
    configs.insert(name.clone(), value);
    Ok(())
}

/// What a list is where the resource itself says nothing.
fn list_default(resource: &ConfigResource, config: &Config, name: &str) -> Option<String> {
    match resource {
        ConfigResource::Topic(_) => {
            let default = || topic::default(name).into();
            Some(config.topic_defaults.get(name).cloned().unwrap_or_else(default))
        }
        ConfigResource::Broker(_) => config::value_in_file(config, name),
        ConfigResource::Group(_) | ConfigResource::ClientMetrics(_) => None,
    }
}

fn check_list(resource: &ConfigResource, name: &str, op: &str) -> Result<(), ControllerError> {
    let is_list = match resource {
        ConfigResource::Topic(_) => {
            topic::definition(name).is_some_and(|it| it.kind == topic::ConfigType::List)
        }
        ConfigResource::Broker(_) => config::is_list(name),
        ConfigResource::Group(_) => false,
        ConfigResource::ClientMetrics(_) => config::client_metrics::is_list(name),
    };
    if is_list {
        return Ok(());
    }
    let reason = format!("Can't {op} to key {name} because its type is not LIST.");
    Err(ControllerError::InvalidConfig(reason))
}

/// Checks what would change; what stays was checked when it was set.
fn check(
    config: &Config,
    plugins: &LoadedPlugins,
    resource: &ConfigResource,
    before: &TopicConfigs,
    after: &TopicConfigs,
) -> Result<(), ControllerError> {
    let changed = |name: &str| before.get(name) != after.get(name);
    let mut set = after.iter().filter(|(name, _)| changed(name));
    match resource {
        ConfigResource::Topic(topic) => {
            set.try_for_each(|(name, value)| topic::validate(name, value))
                .and_then(|()| topic::validate_together(after))
                .map_err(ControllerError::InvalidConfig)?;
            plugins.check_topic(topic, after, changed)
        }
        ConfigResource::Group(_) => {
            set.try_for_each(|(name, value)| group::validate(name, value))
                .map_err(group::Invalid::reason)
                .and_then(|()| group::validate_together(after, &config.group.consumer))
                .map_err(ControllerError::InvalidConfig)?;
            let assignor = after.get(group::ASSIGNOR).filter(|_| changed(group::ASSIGNOR));
            assignor.map_or(Ok(()), |it| plugins.check_assignor(it))
        }
        // KAFKA-13609: it should be INVALID_CONFIG, and is not.
        ConfigResource::Broker(_) => {
            let set = set.map(|(name, value)| (name.clone(), value.clone())).collect();
            config::validate_alterations(&set)
                .and_then(|()| config::validate_alterations_together(after))
                .map_err(ControllerError::InvalidRequest)
        }
        ConfigResource::ClientMetrics(_) => {
            Subscription::read(after).map(drop).map_err(|it| match it {
                Invalid::Request(reason) => ControllerError::InvalidRequest(reason),
                Invalid::Config(reason) => ControllerError::InvalidConfig(reason),
            })
        }
    }
}

fn difference(
    resource: &ConfigResource,
    before: &TopicConfigs,
    after: &TopicConfigs,
) -> Vec<MetadataRecord> {
    let record = |name: &String, value: Option<&String>| MetadataRecord::Config {
        resource: resource.clone(),
        name: name.clone(),
        value: value.cloned(),
    };
    let set = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    set.map(|(name, value)| record(name, Some(value)))
        .chain(gone.map(|name| record(name, None)))
        .collect()
}

#[cfg(test)]
mod tests;
