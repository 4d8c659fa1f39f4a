//! Given an image and a request, which records and answers.

use uuid::Uuid;

use super::*;
use crate::controller::{Registration, register_broker};

fn id(number: u128) -> TopicId {
    TopicId(Uuid::from_u128(number))
}

fn cluster(brokers: i32) -> MetadataImage {
    let mut image = MetadataImage::default();
    for broker in 1..=brokers {
        let registration =
            Registration { broker_id: BrokerId(broker), listeners: Vec::new(), rack: None };
        let decision = register_broker(&image, registration);
        image.replay_all(&decision.records);
    }
    image
}

fn new_topic(name: &str) -> NewTopic {
    NewTopic {
        name: name.into(),
        id: id(name.len() as u128),
        partitions: -1,
        replication_factor: -1,
        assignments: Vec::new(),
        configs: Vec::new(),
    }
}

const DEFAULTS: TopicDefaults = TopicDefaults { partitions: 3, replication_factor: 1 };

type Created = Vec<Result<CreatedTopic, ControllerError>>;

fn create(image: &mut MetadataImage, topics: &[NewTopic]) -> Created {
    let decision = create_topics(image, DEFAULTS, &LoadedPlugins::default(), topics);
    image.replay_all(&decision.records);
    decision.response
}

#[track_caller]
fn refused(topic: NewTopic, error: ControllerError) {
    let mut image = cluster(1);
    let before = image.clone();
    assert_eq!(create(&mut image, &[topic]), [Err(error)]);
    assert_eq!(image, before);
}

#[test]
fn a_topic_gets_the_defaults_and_its_configs() {
    let mut image = cluster(1);
    let configs = vec![("retention.ms".into(), Some("5".into()))];
    let results = create(&mut image, &[NewTopic { configs, ..new_topic("t") }]);

    let created = results[0].as_ref().unwrap();
    assert_eq!((created.partitions, created.replication_factor), (3, 1));
    let topic = image.topic("t").unwrap();
    assert_eq!(topic.partitions.len(), 3);
    assert!(topic.partitions.iter().all(|it| it.leader == Some(BrokerId(1)) && it.isr.len() == 1));
    assert_eq!(image.topic_configs(&"t".into()).unwrap()["retention.ms"], "5");
}

#[test]
fn leaders_and_replicas_are_spread() {
    let mut image = cluster(3);
    let topic = NewTopic { partitions: 6, replication_factor: 2, ..new_topic("t") };
    create(&mut image, &[topic]);
    for broker in 1..=3 {
        let partitions = &image.topic("t").unwrap().partitions;
        let led = partitions.iter().filter(|it| it.leader == Some(BrokerId(broker))).count();
        let held = partitions.iter().filter(|it| it.replicas.contains(&BrokerId(broker))).count();
        assert_eq!((led, held), (2, 4));
    }
}

#[test]
fn numbers_are_checked_as_in_kafka() {
    let invalid = |text: &str| ControllerError::InvalidPartitions(text.into());
    let positive = "Number of partitions was set to an invalid non-positive value.";
    refused(NewTopic { partitions: 0, ..new_topic("t") }, invalid(positive));
    refused(NewTopic { partitions: -2, ..new_topic("t") }, invalid(positive));
    refused(
        NewTopic { replication_factor: 0, ..new_topic("t") },
        ControllerError::InvalidReplicationFactor(
            "Replication factor must be larger than 0, or -1 to use the default value.".into(),
        ),
    );
    refused(
        NewTopic { replication_factor: 2, ..new_topic("t") },
        ControllerError::InvalidReplicationFactor(
            "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be reached because only 1 broker(s) are registered."
                .into(),
        ),
    );
    refused(NewTopic { partitions: i32::MAX, ..new_topic("t") }, ControllerError::TooLarge);
}

#[test]
fn many_topics_of_one_request_are_bounded_together() {
    let mut image = cluster(1);
    let topics = ["a", "bb"].map(|it| NewTopic { partitions: 9_000, ..new_topic(it) });
    let results = create(&mut image, &topics);
    assert!(results[0].is_ok());
    assert_eq!(results[1], Err(ControllerError::TooLarge));
}

#[test]
fn names_that_exist_or_collide_or_come_twice_are_refused() {
    let mut image = cluster(1);
    create(&mut image, &[new_topic("a.b")]);
    let results = create(&mut image, &["a.b", "a_b", "x_y", "x.y", "dup", "dup"].map(new_topic));
    let collides = |name: &str, other: &str| {
        Err(ControllerError::InvalidTopic(format!(
            "Topic '{name}' collides with existing topic: {other}"
        )))
    };
    assert_eq!(results[0], Err(ControllerError::TopicExists("a.b".into())));
    assert_eq!(results[1], collides("a_b", "a.b"));
    assert!(results[2].is_ok());
    assert_eq!(results[3], collides("x.y", "x_y"));
    let twice = Err(ControllerError::InvalidRequest("Duplicate topic name.".into()));
    assert_eq!(results[4..], [twice.clone(), twice]);
    assert!(image.topic("dup").is_none());
}

#[test]
fn the_metadata_log_is_no_topic() {
    refused(
        new_topic("__cluster_metadata"),
        ControllerError::InvalidRequest(
            "Creation of internal topic __cluster_metadata is prohibited.".into(),
        ),
    );
}

#[test]
fn configs_are_checked() {
    let with = |name: &str, value: Option<&str>| NewTopic {
        configs: vec![(name.into(), value.map(Into::into))],
        ..new_topic("t")
    };
    let invalid = |text: &str| ControllerError::InvalidConfig(text.into());
    refused(
        with("retention.ms", None),
        invalid("Null value not supported for topic configs: retention.ms"),
    );
    refused(
        with("retention.ms", Some("x")),
        invalid("Invalid value x for configuration retention.ms: Not a number of type LONG"),
    );
    refused(
        with("klamm.transforms", Some("nobody")),
        invalid("klamm.transforms: no transform plugin 'nobody' is loaded; these are: none"),
    );
}

fn assigned(assignments: &[(i32, &[i32])]) -> NewTopic {
    let ids = |replicas: &[i32]| replicas.iter().copied().map(BrokerId).collect();
    let assignments = assignments.iter().map(|&(partition, it)| (partition, ids(it))).collect();
    NewTopic { assignments, ..new_topic("t") }
}

#[test]
fn assignments_are_taken_as_they_are() {
    let mut image = cluster(3);
    let results = create(&mut image, &[assigned(&[(1, &[3, 1]), (0, &[2, 3])])]);
    assert_eq!(results[0].as_ref().map(|it| it.replication_factor), Ok(2));
    let leaders: Vec<_> = image.topic("t").unwrap().partitions.iter().map(|it| it.leader).collect();
    assert_eq!(leaders, [Some(BrokerId(2)), Some(BrokerId(3))]);
}

#[test]
fn bad_assignments_are_refused() {
    for (topic, reason) in [
        (assigned(&[(0, &[1]), (2, &[1])]), "consecutive 0-based"),
        (assigned(&[(-1, &[1]), (0, &[1])]), "consecutive 0-based"),
        (assigned(&[(0, &[1]), (0, &[1])]), "Found multiple manual partition assignments"),
        (assigned(&[(0, &[])]), "empty replica list"),
        (assigned(&[(0, &[9])]), "no such broker is registered"),
        (assigned(&[(0, &[1, 1])]), "more than once"),
        (NewTopic { partitions: 1, ..assigned(&[(0, &[1])]) }, "numPartitions was not set to -1"),
        (
            NewTopic { replication_factor: 1, ..assigned(&[(0, &[1])]) },
            "replication factor was not set to -1",
        ),
    ] {
        let error = create(&mut cluster(1), &[topic]).remove(0).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn a_deleted_topic_is_gone_and_its_name_free() {
    let mut image = cluster(1);
    create(&mut image, &[new_topic("t")]);
    let decision = delete_topics(&image, &[id(1), id(99)]);
    assert_eq!(decision.response, [Ok("t".into()), Err(ControllerError::UnknownTopicId)]);
    image.replay_all(&decision.records);
    assert!(create(&mut image, &[NewTopic { id: id(5), ..new_topic("t") }])[0].is_ok());
}

fn grow(image: &mut MetadataImage, name: &str, count: i32) -> Result<(), ControllerError> {
    let asked = MorePartitions { name: name.into(), count, assignments: None };
    let mut decision = create_partitions(image, &[asked]);
    image.replay_all(&decision.records);
    decision.response.remove(0)
}

#[test]
fn partitions_are_added_and_never_taken() {
    let mut image = cluster(1);
    create(&mut image, &[new_topic("t")]);
    assert_eq!(grow(&mut image, "t", 5), Ok(()));
    assert_eq!(image.topic("t").unwrap().partitions.len(), 5);
    let invalid = |text: &str| Err(ControllerError::InvalidPartitions(text.into()));
    assert_eq!(grow(&mut image, "t", 5), invalid("Topic already has 5 partition(s)."));
    assert_eq!(
        grow(&mut image, "t", 4),
        invalid("The topic t currently has 5 partition(s); 4 would not be an increase.")
    );
    assert_eq!(grow(&mut image, "x", 4), Err(ControllerError::UnknownTopic));
    assert_eq!(grow(&mut image, "t", i32::MAX), Err(ControllerError::TooLarge));
}

#[test]
fn the_internal_topics_can_be_created() {
    let mut image = cluster(1);
    let config = crate::config::Config::default();
    let topics =
        [crate::controller::offsets_topic(&config, id(1)), crate::controller::alerts_topic(id(2))];
    let results = create(&mut image, &topics);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(image.topic("__consumer_offsets").unwrap().partitions.len(), 50);
    assert_eq!(image.topic_configs(&"__klamm_alerts".into()).unwrap()["cleanup.policy"], "compact");
}
