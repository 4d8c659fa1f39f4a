//! `AlterReplicaLogDirs` (key 34), versions 1 to 2.
//!
//! Moves replicas of this node to other log directories (KIP-113), in the background: the answer says that a move has begun, and
//! `DescribeLogDirs` how far it has come. To the directory that a replica lies in already ends its move. A partition that does not
//! exist is refused, and made in the directory when it is made.
//!
//! | version | adds              | source  |
//! |---------|-------------------|---------|
//! | 2       | flexible encoding | KIP-482 |

use std::{collections::BTreeMap, ops::RangeInclusive, path::Path, sync::Arc};

use kafka_protocol::messages::{
    AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse,
    alter_replica_log_dirs_response::{
        AlterReplicaLogDirPartitionResult, AlterReplicaLogDirTopicResult,
    },
};

use super::{Context, Rooms, group_text::wire};
use crate::{
    base::{ErrorCode, TopicName, TopicPartition},
    replica::{ReplicaManager, off_workers},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 1..=2;

/// Makes folders, so it is done off the runtime's workers.
pub async fn handle(
    rooms: &Rooms,
    _: &Context,
    request: AlterReplicaLogDirsRequest,
) -> AlterReplicaLogDirsResponse {
    let replicas = Arc::clone(&rooms.replicas);
    off_workers(move || answer(&replicas, &request)).await
}

fn answer(
    replicas: &ReplicaManager,
    request: &AlterReplicaLogDirsRequest,
) -> AlterReplicaLogDirsResponse {
    let mut topics = BTreeMap::<TopicName, Vec<AlterReplicaLogDirPartitionResult>>::new();
    for (key, path) in asked(request) {
        let altered = replicas.alter_log_dir(&key, Path::new(path));
        let code = altered.err().map_or(ErrorCode::None, ErrorCode::from);
        let result = AlterReplicaLogDirPartitionResult::default()
            .with_partition_index(key.partition)
            .with_error_code(code.code());
        topics.entry(key.topic).or_default().push(result);
    }
    let results = topics.into_iter().map(|(name, partitions)| {
        AlterReplicaLogDirTopicResult::default()
            .with_topic_name(wire(name.as_str()).into())
            .with_partitions(partitions)
    });
    AlterReplicaLogDirsResponse::default().with_results(results.collect())
}

/// Where each partition is to go; of those named more than once the last counts, as in Kafka.
fn asked(request: &AlterReplicaLogDirsRequest) -> BTreeMap<TopicPartition, &str> {
    let mut asked = BTreeMap::new();
    for dir in &request.dirs {
        for topic in &dir.topics {
            let key = |&it: &i32| TopicPartition::new(&**topic.name, it);
            asked.extend(topic.partitions.iter().map(|it| (key(it), &*dir.path)));
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::alter_replica_log_dirs_request::{
        AlterReplicaLogDir, AlterReplicaLogDirTopic,
    };

    use super::*;

    fn dir(path: &'static str, topic: &str, partitions: &[i32]) -> AlterReplicaLogDir {
        let topic = AlterReplicaLogDirTopic::default()
            .with_name(wire(topic).into())
            .with_partitions(partitions.to_vec());
        AlterReplicaLogDir::default().with_path(path.into()).with_topics(vec![topic])
    }

    #[test]
    fn a_partition_goes_where_it_was_named_last() {
        let dirs = vec![dir("/a", "t", &[0, 1]), dir("/b", "t", &[1]), dir("/a", "u", &[1])];
        let request = AlterReplicaLogDirsRequest::default().with_dirs(dirs);
        let want = [("t", 0, "/a"), ("t", 1, "/b"), ("u", 1, "/a")];
        let want = want.map(|(topic, at, path)| (TopicPartition::new(topic, at), path));
        assert_eq!(asked(&request), want.into());
    }
}
