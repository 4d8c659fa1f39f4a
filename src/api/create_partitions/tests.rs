//! Against a quorum of one.

use super::*;
use crate::{
    api::{
        metadata_change::fresh_topic_id,
        test_node::{TestNode, encodes},
    },
    base::ErrorCode,
    controller::{LoadedPlugins, NewTopic},
};

#[tokio::test]
async fn partitions_are_added_at_every_version() {
    let node = TestNode::start().await;
    let topic = NewTopic {
        name: "t".into(),
        id: fresh_topic_id(),
        partitions: 1,
        replication_factor: 1,
        assignments: Vec::new(),
        configs: Vec::new(),
    };
    let created = node.change().create_topics(&LoadedPlugins::default(), &[topic]).await;
    assert!(created[0].is_ok());
    for (count, version) in (2..).zip(VERSIONS) {
        let topics = ["t", "absent"].map(|it| {
            let name = StrBytes::from_static_str(it).into();
            CreatePartitionsTopic::default()
                .with_name(name)
                .with_count(count)
                .with_assignments(None)
        });
        let request = CreatePartitionsRequest::default().with_topics(topics.into());
        let checked = answer(&node.validating(), &request).await;
        let before = node.quorum.image().topic("t").map(|it| it.partitions.len());
        let response = answer(&node.change(), &request).await;
        encodes(&response, version);
        assert_eq!(checked, response);
        let codes: Vec<_> = response.results.iter().map(|it| it.error_code).collect();
        assert_eq!(codes, [0, ErrorCode::UnknownTopicOrPartition.code()]);
        let after = node.quorum.image().topic("t").map(|it| it.partitions.len());
        assert_eq!((before, after), (Some(count as usize - 1), Some(count as usize)));
    }
}
