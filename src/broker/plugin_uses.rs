//! Who uses which plugins: topics and groups by their own configs, and the patterns of this node's file.

use crate::{
    base::PluginName,
    config::{Config, TopicConfigs, group, topic},
    metadata::{ConfigResource, MetadataImage},
    plugin::{HookKind, PluginUses},
};

/// Those of an image.
pub(super) fn of(config: &Config, image: &MetadataImage) -> PluginUses {
    let mut uses = PluginUses::default();
    for pattern in &config.topic_patterns.0 {
        add(&mut uses, &pattern.settings, || format!("klamm.topics.\"{}\"", pattern.pattern));
    }
    for pattern in &config.group_patterns.0 {
        add(&mut uses, &pattern.settings, || format!("klamm.groups.\"{}\"", pattern.pattern));
    }
    for (resource, configs) in &image.configs {
        add(&mut uses, configs, || match resource {
            ConfigResource::Topic(name) => format!("topic {name}"),
            ConfigResource::Group(id) => format!("group {id}"),
            ConfigResource::Broker(_) => "a broker".into(),
            ConfigResource::ClientMetrics(name) => format!("client metrics {name}"),
        });
    }
    uses
}

/// Each key belongs to topics or to groups alone, so that both can be looked at alike.
fn add(uses: &mut PluginUses, configs: &TopicConfigs, by: impl Fn() -> String) {
    for (key, hook) in [
        (topic::PARTITIONER, HookKind::Partitioner),
        (topic::TRANSFORMS, HookKind::Transform),
        (group::ASSIGNOR, HookKind::Assignor),
    ] {
        for name in configs.get(key).into_iter().flat_map(|it| topic::list(it)) {
            uses.add(&PluginName::from(name), hook, &by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Pattern, Patterns},
        metadata::MetadataRecord,
    };

    fn config(resource: ConfigResource, name: &str, value: &str) -> MetadataRecord {
        MetadataRecord::Config { resource, name: name.into(), value: Some(value.into()) }
    }

    #[test]
    fn configs_of_topics_and_groups_and_patterns_use_plugins() {
        let mut image = MetadataImage::default();
        let topic = || ConfigResource::Topic("t".into());
        image.replay_all(&[
            config(topic(), "klamm.transforms", "a, b"),
            config(topic(), "klamm.partitioner", ""),
            config(ConfigResource::Group("g".into()), "klamm.assignor", "c"),
        ]);
        let settings = [("klamm.partitioner".into(), "d".into())].into();
        let topic_patterns = Patterns(vec![Pattern { pattern: "x*".into(), settings }]);
        let config = Config { topic_patterns, ..Config::default() };
        let mut want = PluginUses::default();
        want.add(&"a".into(), HookKind::Transform, || "topic t".into());
        want.add(&"b".into(), HookKind::Transform, || "topic t".into());
        want.add(&"c".into(), HookKind::Assignor, || "group g".into());
        want.add(&"d".into(), HookKind::Partitioner, || "klamm.topics.\"x*\"".into());
        assert_eq!(of(&config, &image), want);
    }
}
