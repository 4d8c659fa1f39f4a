//! Topics that the broker needs are made when the first one needs them, as Kafka does with its internal ones.

use std::{convert::Infallible, slice, sync::Arc};

use crate::{
    config::Config,
    controller::{ControllerError, LoadedPlugins, NewTopic, TopicDefaults, create_topics},
    metadata::{MetadataImage, TopicImage},
    quorum::{Quorum, QuorumError},
};

/// Why there is no such topic now. Whoever needs it tries again.
#[derive(Debug, thiserror::Error)]
pub enum InternalTopicError {
    #[error("create a topic that the broker needs")]
    Quorum(#[from] QuorumError),
    #[error("create a topic that the broker needs: {0}")]
    Refused(#[from] ControllerError),
    /// It was deleted at this very moment.
    #[error("the topic is gone again")]
    Gone,
}

/// The topic, created as `new` says if need be.
pub(super) async fn ensure(
    quorum: &Quorum,
    config: &Config,
    new: NewTopic,
) -> Result<Arc<TopicImage>, InternalTopicError> {
    let name = new.name.to_string();
    let existing = |image: &MetadataImage| image.topic(&name).cloned();
    if let Some(topic) = existing(&quorum.image()) {
        return Ok(topic);
    }
    create(quorum, config, new).await?;
    existing(&quorum.image()).ok_or(InternalTopicError::Gone)
}

async fn create(quorum: &Quorum, config: &Config, new: NewTopic) -> Result<(), InternalTopicError> {
    let defaults = TopicDefaults {
        partitions: config.node.num_partitions,
        replication_factor: config.node.default_replication_factor,
    };
    let plugins = LoadedPlugins::default();
    let created = quorum.change(|image: &MetadataImage| {
        Ok::<_, Infallible>(create_topics(image, defaults, &plugins, slice::from_ref(&new)))
    });
    let Ok(results) = created.await?;
    for result in results {
        match result {
            // Somebody else was faster.
            Ok(_) | Err(ControllerError::TopicExists(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
