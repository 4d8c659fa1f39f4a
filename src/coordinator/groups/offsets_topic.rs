//! `__consumer_offsets`: made when the first client looks for its coordinator, as Kafka does.

use std::sync::Arc;

use uuid::Uuid;

use super::GroupCoordinator;
use crate::{
    base::TopicId,
    controller::{OFFSETS_TOPIC, offsets_topic},
    coordinator::internal_topic::{self, InternalTopicError},
    metadata::{MetadataImage, TopicImage},
};

impl GroupCoordinator {
    /// The topic, created if need be.
    pub(super) async fn ensure_offsets_topic(&self) -> Result<Arc<TopicImage>, InternalTopicError> {
        let desk = &self.desk;
        if let Some(topic) = existing(&desk.quorum.image()) {
            return Ok(topic);
        }
        let new = offsets_topic(&desk.config, TopicId(Uuid::new_v4()));
        let topic = internal_topic::ensure(&desk.quorum, &desk.config, new).await?;
        self.reconcile(&desk.quorum.image());
        Ok(topic)
    }
}

pub(super) fn existing(image: &MetadataImage) -> Option<Arc<TopicImage>> {
    image.topic(OFFSETS_TOPIC).cloned()
}
