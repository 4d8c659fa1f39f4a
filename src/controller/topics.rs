//! Topics: created, deleted, given more partitions. Checks come in Kafka's order (`ReplicationControlManager`).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ControllerError, LoadedPlugins,
    placement::{check_assignment, new_partition, place},
    topic_name::{CollidingNames, validate_topic_name},
};
use crate::{
    base::{BrokerId, TopicId, TopicName},
    config::{TopicConfigs, topic},
    machine::Decision,
    metadata::{ConfigResource, MetadataImage, MetadataRecord, TopicImage},
};

/// Most records of one request, as in Kafka: a number of partitions from the network must not become memory.
const RECORDS_MAX: usize = 10_000;

/// The name of the metadata log, which no topic may take.
const METADATA_TOPIC: &str = "__cluster_metadata";

/// What −1 stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicDefaults {
    /// `num.partitions`
    pub partitions: i32,
    /// `default.replication.factor`
    pub replication_factor: i16,
}

/// A topic to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTopic {
    pub name: TopicName,
    /// Fresh; used if the topic is created.
    pub id: TopicId,
    /// −1 for the default.
    pub partitions: i32,
    /// −1 for the default.
    pub replication_factor: i16,
    /// Partition and its replicas; empty lets the controller choose.
    pub assignments: Vec<(i32, Vec<BrokerId>)>,
    pub configs: Vec<(String, Option<String>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedTopic {
    pub id: TopicId,
    pub partitions: i32,
    pub replication_factor: i16,
    pub configs: TopicConfigs,
}

/// A topic that is to have `count` partitions in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MorePartitions {
    pub name: TopicName,
    pub count: i32,
    /// Replicas of each new partition; `None` lets the controller choose.
    pub assignments: Option<Vec<Vec<BrokerId>>>,
}

/// Creates what can be created; a result for each topic, in their order. A name given twice is refused each time.
pub fn create_topics(
    image: &MetadataImage,
    defaults: TopicDefaults,
    plugins: &LoadedPlugins,
    topics: &[NewTopic],
) -> Decision<MetadataRecord, Vec<Result<CreatedTopic, ControllerError>>> {
    let twice = duplicates(topics.iter().map(|it| it.name.as_str()));
    let mut records = Vec::new();
    let mut names = CollidingNames::new(image);
    let results = topics
        .iter()
        .map(|topic| {
            refuse_duplicate(&twice, &topic.name)?;
            check_name(image, &names, &topic.name)?;
            let (made, created) = create_topic(image, defaults, plugins, topic)?;
            fits(records.len() + made.len())?;
            records.extend(made);
            // Two names of one request may collide.
            names.add(&topic.name);
            Ok(created)
        })
        .collect();
    Decision::new(records, results)
}

fn create_topic(
    image: &MetadataImage,
    defaults: TopicDefaults,
    plugins: &LoadedPlugins,
    topic: &NewTopic,
) -> Result<(Vec<MetadataRecord>, CreatedTopic), ControllerError> {
    let configs = check_configs(plugins, topic)?;
    let replicas = if topic.assignments.is_empty() {
        choose_replicas(image, defaults, topic)?
    } else {
        assigned_replicas(image, topic)?
    };
    let created = CreatedTopic {
        id: topic.id,
        partitions: replicas.len() as i32,
        replication_factor: replicas.first().map_or(0, |it| it.len() as i16),
        configs,
    };
    let mut records = vec![MetadataRecord::Topic { topic_id: topic.id, name: topic.name.clone() }];
    records.extend(created.configs.iter().map(|(name, value)| MetadataRecord::Config {
        resource: ConfigResource::Topic(topic.name.clone()),
        name: name.clone(),
        value: Some(value.clone()),
    }));
    for (partition, replicas) in (0..).zip(replicas) {
        records.push(new_partition(image, topic.id, partition, replicas)?);
    }
    Ok((records, created))
}

fn check_name(
    image: &MetadataImage,
    names: &CollidingNames,
    name: &TopicName,
) -> Result<(), ControllerError> {
    if name.as_str() == METADATA_TOPIC {
        let reason = format!("Creation of internal topic {METADATA_TOPIC} is prohibited.");
        return Err(ControllerError::InvalidRequest(reason));
    }
    validate_topic_name(name.as_str())?;
    if image.topics.contains_key(name) {
        return Err(ControllerError::TopicExists(name.clone()));
    }
    match names.find(name) {
        Some(other) => Err(ControllerError::InvalidTopic(format!(
            "Topic '{name}' collides with existing topic: {other}"
        ))),
        None => Ok(()),
    }
}

fn check_configs(
    plugins: &LoadedPlugins,
    topic: &NewTopic,
) -> Result<TopicConfigs, ControllerError> {
    let mut configs = TopicConfigs::new();
    for (name, value) in &topic.configs {
        let Some(value) = value else {
            return Err(ControllerError::InvalidConfig(format!(
                "Null value not supported for topic configs: {name}"
            )));
        };
        topic::validate(name, value).map_err(ControllerError::InvalidConfig)?;
        configs.insert(name.clone(), value.clone());
    }
    topic::validate_together(&configs).map_err(ControllerError::InvalidConfig)?;
    plugins.check_topic(&topic.name, &configs, |name| configs.contains_key(name))?;
    Ok(configs)
}

fn choose_replicas(
    image: &MetadataImage,
    defaults: TopicDefaults,
    topic: &NewTopic,
) -> Result<Vec<Vec<BrokerId>>, ControllerError> {
    if topic.replication_factor < -1 || topic.replication_factor == 0 {
        return Err(ControllerError::InvalidReplicationFactor(
            "Replication factor must be larger than 0, or -1 to use the default value.".into(),
        ));
    }
    if topic.partitions < -1 || topic.partitions == 0 {
        return Err(ControllerError::InvalidPartitions(
            "Number of partitions was set to an invalid non-positive value.".into(),
        ));
    }
    let or = |asked: i32, default: i32| if asked == -1 { default } else { asked };
    let partitions = or(topic.partitions, defaults.partitions);
    fits(usize::try_from(partitions).unwrap_or(0))?;
    let factor = match topic.replication_factor {
        -1 => defaults.replication_factor,
        asked => asked,
    };
    place(image, topic.id, 0, partitions, factor)
}

fn assigned_replicas(
    image: &MetadataImage,
    topic: &NewTopic,
) -> Result<Vec<Vec<BrokerId>>, ControllerError> {
    if topic.replication_factor != -1 {
        return Err(ControllerError::InvalidRequest(
            "A manual partition assignment was specified, but replication factor was not set to -1."
                .into(),
        ));
    }
    if topic.partitions != -1 {
        return Err(ControllerError::InvalidRequest(
            "A manual partition assignment was specified, but numPartitions was not set to -1."
                .into(),
        ));
    }
    let mut assigned = BTreeMap::new();
    let mut factor = None;
    for (partition, replicas) in &topic.assignments {
        check_assignment(image, replicas, factor)?;
        factor = Some(replicas.len());
        if assigned.insert(*partition, replicas.clone()).is_some() {
            return Err(ControllerError::InvalidReplicaAssignment(format!(
                "Found multiple manual partition assignments for partition {partition}"
            )));
        }
    }
    if (0..).zip(assigned.keys()).any(|(index, &partition)| index != partition) {
        return Err(ControllerError::InvalidReplicaAssignment(
            "partitions should be a consecutive 0-based integer sequence".into(),
        ));
    }
    Ok(assigned.into_values().collect())
}

/// Deletes topics by id; a result for each, with its name.
pub fn delete_topics(
    image: &MetadataImage,
    ids: &[TopicId],
) -> Decision<MetadataRecord, Vec<Result<TopicName, ControllerError>>> {
    let known = |&id: &TopicId| image.topic_by_id(id).ok_or(ControllerError::UnknownTopicId);
    let records = ids
        .iter()
        .filter(|it| known(it).is_ok())
        .map(|&topic_id| MetadataRecord::RemoveTopic { topic_id })
        .collect();
    Decision::new(records, ids.iter().map(|it| known(it).map(|it| it.name.clone())).collect())
}

/// Adds partitions; a result for each topic, in their order.
pub fn create_partitions(
    image: &MetadataImage,
    topics: &[MorePartitions],
) -> Decision<MetadataRecord, Vec<Result<(), ControllerError>>> {
    let twice = duplicates(topics.iter().map(|it| it.name.as_str()));
    let mut records = Vec::new();
    let results = topics
        .iter()
        .map(|topic| {
            refuse_duplicate(&twice, &topic.name)?;
            let known = image.topic(topic.name.as_str()).ok_or(ControllerError::UnknownTopic)?;
            let made = more_partitions(image, known, topic)?;
            fits(records.len() + made.len())?;
            records.extend(made);
            Ok(())
        })
        .collect();
    Decision::new(records, results)
}

fn more_partitions(
    image: &MetadataImage,
    topic: &TopicImage,
    asked: &MorePartitions,
) -> Result<Vec<MetadataRecord>, ControllerError> {
    let before = topic.partitions.len() as i32;
    if asked.count == before {
        let reason = format!("Topic already has {before} partition(s).");
        return Err(ControllerError::InvalidPartitions(reason));
    }
    if asked.count < before {
        return Err(ControllerError::InvalidPartitions(format!(
            "The topic {} currently has {before} partition(s); {} would not be an increase.",
            topic.name, asked.count
        )));
    }
    let replicas = added_replicas(image, topic, asked, before)?;
    (before..)
        .zip(replicas)
        .map(|(partition, replicas)| new_partition(image, topic.id, partition, replicas))
        .collect()
}

/// Replicas of the partitions from `before` on; each has as many as the topic's others.
fn added_replicas(
    image: &MetadataImage,
    topic: &TopicImage,
    asked: &MorePartitions,
    before: i32,
) -> Result<Vec<Vec<BrokerId>>, ControllerError> {
    let more = asked.count - before;
    let factor = topic.partitions.first().map_or(1, |it| it.replicas.len());
    let Some(assignments) = &asked.assignments else {
        fits(more as usize)?;
        return place(image, topic.id, before, more, factor as i16);
    };
    if assignments.len() != more as usize {
        return Err(ControllerError::InvalidReplicaAssignment(format!(
            "Attempted to add {more} additional partition(s), but only {} assignment(s) were specified.",
            assignments.len()
        )));
    }
    assignments.iter().try_for_each(|it| check_assignment(image, it, Some(factor)))?;
    Ok(assignments.clone())
}

fn fits(records: usize) -> Result<(), ControllerError> {
    if records > RECORDS_MAX { Err(ControllerError::TooLarge) } else { Ok(()) }
}

fn duplicates<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|it| !seen.insert(*it)).collect()
}

fn refuse_duplicate(twice: &BTreeSet<&str>, name: &TopicName) -> Result<(), ControllerError> {
    if twice.contains(name.as_str()) {
        return Err(ControllerError::InvalidRequest("Duplicate topic name.".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
