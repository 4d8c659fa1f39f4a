//! Given configs and a change, which configs follow.

use uuid::Uuid;

use super::*;
use crate::{
    base::TopicId,
    controller::{ConfigOp::*, LoadedPlugins},
};

fn topic(name: &str) -> ConfigResource {
    ConfigResource::Topic(name.into())
}

fn configs(pairs: &[(&str, &str)]) -> TopicConfigs {
    pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect()
}

fn image(pairs: &[(&str, &str)]) -> MetadataImage {
    let mut image = MetadataImage::default();
    let topic_id = TopicId(Uuid::from_u128(1));
    image.replay(&MetadataRecord::Topic { topic_id, name: "t".into() });
    for (name, value) in configs(pairs) {
        let value = Some(value);
        image.replay(&MetadataRecord::Config { resource: topic("t"), name, value });
    }
    image
}

fn plugins() -> LoadedPlugins {
    LoadedPlugins {
        partitioners: [("key-ordering".into(), true), ("random".into(), false)].into(),
        assignors: ["sticky".into()].into(),
        transforms: ["log-alert".into()].into(),
    }
}

fn changes(ops: Vec<(&str, ConfigOp)>) -> Vec<ConfigChange> {
    ops.into_iter().map(|(name, op)| ConfigChange { name: name.into(), op }).collect()
}

fn alter(
    image: &mut MetadataImage,
    resource: ConfigResource,
    ops: Vec<(&str, ConfigOp)>,
) -> Result<TopicConfigs, ControllerError> {
    let asked = [(resource.clone(), changes(ops))];
    let mut decision = alter_configs(image, &Config::default(), &plugins(), &asked);
    image.replay_all(&decision.records);
    decision.response.remove(0)?;
    Ok(image.configs.get(&resource).map(|it| (**it).clone()).unwrap_or_default())
}

#[test]
fn configs_are_set_deleted_and_left_alone_one_by_one() {
    let mut image = image(&[("retention.ms", "1"), ("segment.ms", "2")]);
    let ops = vec![("retention.ms", Delete), ("preallocate", Set("true".into()))];
    let after = alter(&mut image, topic("t"), ops);
    assert_eq!(after, Ok(configs(&[("preallocate", "true"), ("segment.ms", "2")])));
}

#[test]
fn lists_grow_and_shrink_from_their_default() {
    let mut image = image(&[]);
    let append = vec![("cleanup.policy", Append("compact".into()))];
    let after = alter(&mut image, topic("t"), append.clone());
    assert_eq!(after, Ok(configs(&[("cleanup.policy", "delete,compact")])));
    assert_eq!(alter(&mut image, topic("t"), append), after);
    let subtract = vec![("cleanup.policy", Subtract("delete".into()))];
    let after = alter(&mut image, topic("t"), subtract);
    assert_eq!(after, Ok(configs(&[("cleanup.policy", "compact")])));
}

#[track_caller]
fn refused(ops: Vec<(&str, ConfigOp)>, reason: &str) {
    let mut image = image(&[("retention.ms", "1")]);
    let before = image.clone();
    let error = alter(&mut image, topic("t"), ops).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
    assert_eq!(image, before);
}

#[test]
fn bad_changes_are_refused_as_a_whole() {
    refused(
        vec![("segment.ms", Set("5".into())), ("retention.ms", Set("x".into()))],
        "Not a number of type LONG",
    );
    refused(
        vec![("retention.ms", Append("1".into()))],
        "Can't APPEND to key retention.ms because its type is not LIST.",
    );
    refused(vec![("cleanup.policy", Subtract("delete".into()))], "must be one of");
}

#[test]
fn hooks_must_be_loaded_and_of_the_right_kind() {
    refused(
        vec![("klamm.partitioner", Set("log-alert".into()))],
        "no partitioner plugin 'log-alert' is loaded; these are: key-ordering, random",
    );
    refused(
        vec![("klamm.transforms", Set("log-alert,nobody".into()))],
        "no transform plugin 'nobody' is loaded; these are: log-alert",
    );
    for mode in ["guard", "observe"] {
        refused(
            vec![
                ("klamm.partitioner", Set("random".into())),
                ("klamm.partitioner.mode", Set(mode.into())),
            ],
            "and 'random' is not; these are: key-ordering",
        );
    }
    refused(vec![("klamm.transforms.mode", Set("tail".into()))], "not built yet");
    let mut image = image(&[]);
    let ops = vec![
        ("klamm.partitioner", Set("key-ordering".into())),
        ("klamm.partitioner.mode", Set("observe".into())),
        ("klamm.transforms", Set("log-alert".into())),
    ];
    assert!(alter(&mut image, topic("t"), ops).is_ok());
}

#[test]
fn a_plugin_that_has_gone_does_not_stand_in_the_way_of_other_changes() {
    let mut image = image(&[("klamm.partitioner", "gone")]);
    assert!(alter(&mut image, topic("t"), vec![("retention.ms", Set("7".into()))]).is_ok());
    assert!(alter(&mut image, topic("t"), vec![("klamm.partitioner", Delete)]).is_ok());
}

#[test]
fn hooks_never_apply_to_internal_topics() {
    let mut image = image(&[]);
    let topic_id = TopicId(Uuid::from_u128(2));
    image.replay(&MetadataRecord::Topic { topic_id, name: "__klamm_alerts".into() });
    let ops = vec![("klamm.transforms", Set("log-alert".into()))];
    let error = alter(&mut image, topic("__klamm_alerts"), ops).unwrap_err();
    assert!(error.to_string().contains("never apply to internal topics"), "{error}");
}

#[test]
fn groups_take_loaded_assignors_also_before_they_have_members() {
    let mut image = image(&[]);
    let group = || ConfigResource::Group("g".into());
    let set = |name: &str| vec![("klamm.assignor", Set(name.into()))];
    assert!(alter(&mut image, group(), set("sticky")).is_ok());
    let error = alter(&mut image, group(), set("random")).unwrap_err().to_string();
    assert!(error.contains("these are: sticky"), "{error}");
    assert!(alter(&mut image, group(), vec![("retention.ms", Set("1".into()))]).is_err());
}

#[test]
fn groups_take_what_the_node_allows_members_of_the_consumer_protocol() {
    let mut image = image(&[]);
    let group = || ConfigResource::Group("g".into());
    let set = |value: &str| vec![("consumer.session.timeout.ms", Set(value.into()))];
    assert!(alter(&mut image, group(), set("60000")).is_ok());
    for (value, reason) in [
        ("soon", "Not a number of type INT"),
        ("60001", "must be less than or equal to group.consumer.max.session.timeout.ms"),
    ] {
        let error = alter(&mut image, group(), set(value)).unwrap_err();
        assert!(matches!(&error, ControllerError::InvalidConfig(it) if it.contains(reason)));
    }
}

#[test]
fn settings_of_nodes_are_altered_as_far_as_they_can_be() {
    let mut image = image(&[]);
    let cluster = || ConfigResource::Broker(None);
    let ops = vec![
        ("log.retention.ms", Set("7".into())),
        ("log.cleanup.policy", Append("compact".into())),
    ];
    let want = configs(&[("log.cleanup.policy", "delete,compact"), ("log.retention.ms", "7")]);
    assert_eq!(alter(&mut image, cluster(), ops), Ok(want));
    let read_only = vec![("node.id", Set("7".into()))];
    let refused = alter(&mut image, cluster(), read_only).unwrap_err();
    let reason = "Cannot update these configs dynamically: Set(node.id)";
    assert_eq!(refused, ControllerError::InvalidRequest(reason.into()));
    let delete = vec![("log.cleanup.policy", Delete), ("log.retention.ms", Delete)];
    assert_eq!(alter(&mut image, cluster(), delete), Ok(configs(&[])));
}

#[test]
fn a_subscription_has_a_name_and_good_configs() {
    let mut image = image(&[]);
    let subscription = |name: &str| ConfigResource::ClientMetrics(name.into());
    let ops = vec![("metrics", Append("a".into())), ("interval.ms", Set("100".into()))];
    let want = configs(&[("interval.ms", "100"), ("metrics", "a")]);
    assert_eq!(alter(&mut image, subscription("s"), ops.clone()), Ok(want));
    assert!(matches!(
        alter(&mut image, subscription(""), ops),
        Err(ControllerError::InvalidRequest(_))
    ));
    let bad = vec![("match", Set("client_id=(".into()))];
    assert!(matches!(
        alter(&mut image, subscription("s"), bad),
        Err(ControllerError::InvalidConfig(_))
    ));
}

#[test]
fn what_does_not_exist_or_comes_twice_is_refused() {
    let mut image = image(&[]);
    assert_eq!(alter(&mut image, topic("x"), vec![]), Err(ControllerError::UnknownTopic));
    let twice = [(topic("t"), vec![]), (topic("t"), vec![])];
    let decision = alter_configs(&image, &Config::default(), &plugins(), &twice);
    let error = ControllerError::InvalidRequest("Each resource must appear at most once.".into());
    assert_eq!(decision.response, [Err(error.clone()), Err(error)]);
}

#[test]
fn a_replacement_removes_what_it_does_not_name() {
    let image = image(&[("retention.ms", "1"), ("segment.ms", "2")]);
    let asked = [(topic("t"), configs(&[("segment.ms", "2"), ("preallocate", "true")]))];
    let decision = replace_configs(&image, &Config::default(), &plugins(), &asked);
    let record = |name: &str, value: Option<&str>| MetadataRecord::Config {
        resource: topic("t"),
        name: name.into(),
        value: value.map(Into::into),
    };
    assert_eq!(decision.response, [Ok(())]);
    assert_eq!(
        decision.records,
        [record("preallocate", Some("true")), record("retention.ms", None)]
    );
}
