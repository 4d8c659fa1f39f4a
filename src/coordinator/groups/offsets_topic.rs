//! `__consumer_offsets`: made when the first client looks for its coordinator, as Kafka does.

use std::{convert::Infallible, slice, sync::Arc};

use uuid::Uuid;

use super::GroupCoordinator;
use crate::{
    base::TopicId,
    controller::{
        ControllerError, LoadedPlugins, OFFSETS_TOPIC, TopicDefaults, create_topics, offsets_topic,
    },
    metadata::{MetadataImage, TopicImage},
    quorum::QuorumError,
};

/// Why there is no `__consumer_offsets`. The client tries again.
#[derive(Debug, thiserror::Error)]
pub enum OffsetsTopicError {
    #[error("create __consumer_offsets")]
    Quorum(#[from] QuorumError),
    #[error("create __consumer_offsets")]
    Refused(#[from] ControllerError),
    /// It was deleted at this very moment.
    #[error("__consumer_offsets is gone again")]
    Gone,
}

impl GroupCoordinator {
    /// The topic, created if need be.
    pub(super) async fn ensure_offsets_topic(&self) -> Result<Arc<TopicImage>, OffsetsTopicError> {
        if let Some(topic) = existing(&self.desk.quorum.image()) {
            return Ok(topic);
        }
        self.create_offsets_topic().await?;
        let image = self.desk.quorum.image();
        self.reconcile(&image);
        existing(&image).ok_or(OffsetsTopicError::Gone)
    }

    async fn create_offsets_topic(&self) -> Result<(), OffsetsTopicError> {
        let config = &self.desk.config;
        let topic = offsets_topic(config, TopicId(Uuid::new_v4()));
        let defaults = TopicDefaults {
            partitions: config.node.num_partitions,
            replication_factor: config.node.default_replication_factor,
        };
        let plugins = LoadedPlugins::default();
        let created = self.desk.quorum.change(|image: &MetadataImage| {
            let topics = slice::from_ref(&topic);
            Ok::<_, Infallible>(create_topics(image, defaults, &plugins, topics))
        });
        let Ok(results) = created.await?;
        for result in results {
            match result {
                // Another client was faster.
                Ok(_) | Err(ControllerError::TopicExists(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

pub(super) fn existing(image: &MetadataImage) -> Option<Arc<TopicImage>> {
    image.topic(OFFSETS_TOPIC).cloned()
}
