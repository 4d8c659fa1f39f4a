//! Topics that dead letters go to: ordinary ones, made with the broker's defaults when the first record needs one, also
//! where `auto.create.topics.enable` is false. That holds for what clients ask for; these the operator has asked for.

use std::sync::Arc;

use uuid::Uuid;

use super::{InternalTopicError, internal_topic};
use crate::{
    base::{TopicId, TopicName},
    config::Config,
    controller::NewTopic,
    quorum::Quorum,
};

/// Makes them.
pub struct DeadLetterTopics {
    quorum: Arc<Quorum>,
    config: Arc<Config>,
}

impl DeadLetterTopics {
    pub fn new(quorum: Arc<Quorum>, config: Arc<Config>) -> Self {
        Self { quorum, config }
    }

    /// Makes the topic unless there is one. Its partitions open a moment later.
    pub async fn ensure(&self, name: TopicName) -> Result<(), InternalTopicError> {
        let new = NewTopic {
            name,
            id: TopicId(Uuid::new_v4()),
            partitions: -1,
            replication_factor: -1,
            assignments: Vec::new(),
            configs: Vec::new(),
        };
        internal_topic::ensure(&self.quorum, &self.config, new).await.map(drop)
    }
}
