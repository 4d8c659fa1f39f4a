//! Which transforms a change of metadata puts on which topics.

use std::collections::BTreeSet;

use crate::{
    base::{PluginName, TopicName},
    config::{Config, TopicConfig, TopicConfigs},
    metadata::{ConfigResource, MetadataImage, MetadataRecord},
};

/// The plugins that watch a topic once `records` are applied, and did not before.
pub fn added_transforms(
    config: &Config,
    image: &MetadataImage,
    records: &[MetadataRecord],
) -> Vec<(TopicName, PluginName)> {
    let topics: BTreeSet<&TopicName> = records.iter().filter_map(changed_topic).collect();
    if topics.is_empty() {
        return Vec::new();
    }
    let mut after = image.clone();
    for record in records {
        after.replay(record);
    }
    let added = topics.into_iter().flat_map(|topic| {
        let before = transforms(config, image, topic);
        let after = transforms(config, &after, topic).into_iter();
        after.filter(move |it| !before.contains(it)).map(|plugin| (topic.clone(), plugin))
    });
    added.collect()
}

fn changed_topic(record: &MetadataRecord) -> Option<&TopicName> {
    match record {
        MetadataRecord::Topic { name, .. }
        | MetadataRecord::Config { resource: ConfigResource::Topic(name), .. } => Some(name),
        _ => None,
    }
}

/// None of a topic that is not there.
fn transforms(config: &Config, image: &MetadataImage, topic: &TopicName) -> Vec<PluginName> {
    if !image.topics.contains_key(topic) {
        return Vec::new();
    }
    let none = TopicConfigs::new();
    let own = image.configs.get(&ConfigResource::Topic(topic.clone()));
    TopicConfig::resolve(config, topic, own.map_or(&none, |it| it)).transforms
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        base::TopicId,
        config::{Pattern, Patterns},
    };

    fn created() -> MetadataRecord {
        MetadataRecord::Topic { topic_id: TopicId(Uuid::from_u128(1)), name: "logs".into() }
    }

    fn set(value: Option<&str>) -> MetadataRecord {
        MetadataRecord::Config {
            resource: ConfigResource::Topic("logs".into()),
            name: "klamm.transforms".into(),
            value: value.map(str::to_owned),
        }
    }

    /// Plugins that the last record adds.
    #[track_caller]
    fn added(config: &Config, records: &[MetadataRecord]) -> Vec<String> {
        let (last, earlier) = records.split_last().unwrap();
        let mut image = MetadataImage::default();
        for record in earlier {
            image.replay(record);
        }
        let added = added_transforms(config, &image, std::slice::from_ref(last));
        added.into_iter().map(|(_, plugin)| plugin.to_string()).collect()
    }

    #[test]
    fn what_is_put_on_a_topic_is_told_and_what_stays_is_not() {
        let config = Config::default();
        let none: [&str; 0] = [];
        assert_eq!(added(&config, &[created(), set(Some("a"))]), ["a"]);
        assert_eq!(added(&config, &[created(), set(Some("a")), set(Some("b,a"))]), ["b"]);
        assert_eq!(added(&config, &[created(), set(Some("a,b")), set(Some("b"))]), none);
        assert_eq!(added(&config, &[created(), set(Some("a")), set(None)]), none);
        assert_eq!(added(&config, &[created(), set(None), set(Some("a"))]), ["a"]);
        assert_eq!(added(&config, &[created()]), none);
    }

    #[test]
    fn a_pattern_of_the_file_counts_where_the_topic_says_nothing() {
        let settings = [("klamm.transforms".to_owned(), "a".to_owned())].into();
        let pattern = Pattern { pattern: "log*".into(), settings };
        let config = Config { topic_patterns: Patterns(vec![pattern]), ..Config::default() };
        assert_eq!(added(&config, &[created()]), ["a"]);
        assert_eq!(added(&config, &[created(), set(Some("")), set(None)]), ["a"]);
    }
}
