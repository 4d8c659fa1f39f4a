//! A partition of this node, and what it was made from: what an image gives the node, and what became of it.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::{Partition, partition::Role};
use crate::{
    base::{TopicId, TopicPartition},
    config::{LogConfig, TopicConfig, TopicConfigs},
    log::{LogDir, LogError, LogSettings},
    metadata::{PartitionImage, TopicImage},
    telemetry::now,
};

/// A partition that an image gives this node.
pub(super) struct Wanted {
    pub(super) topic_partition: TopicPartition,
    pub(super) topic_id: TopicId,
    pub(super) own_configs: Option<Arc<TopicConfigs>>,
    pub(super) role: Role,
}

/// A partition, and what it was made from.
pub(super) struct Hosted {
    pub(super) partition: Arc<Partition>,
    dir: ArcSwap<LogDir>,
    /// The topic's own configs that its effective ones come from.
    pub(super) own_configs: Mutex<Option<Arc<TopicConfigs>>>,
}

impl Wanted {
    pub(super) fn new(
        topic_partition: TopicPartition,
        topic: &TopicImage,
        partition: &PartitionImage,
        own_configs: Option<Arc<TopicConfigs>>,
        config: Arc<TopicConfig>,
    ) -> Self {
        let role = Role {
            leader: partition.leader,
            leader_epoch: partition.leader_epoch,
            isr: partition.isr.clone(),
            replicas: partition.replicas.len(),
            config,
        };
        Self { topic_partition, topic_id: topic.id, own_configs, role }
    }
}

impl Hosted {
    pub(super) fn new(
        partition: Arc<Partition>,
        dir: &Arc<LogDir>,
        own_configs: Option<Arc<TopicConfigs>>,
    ) -> Self {
        let dir = ArcSwap::from(Arc::clone(dir));
        Self { partition, dir, own_configs: Mutex::new(own_configs) }
    }

    /// The log directory that it lies in.
    pub(super) fn dir(&self) -> Arc<LogDir> {
        self.dir.load_full()
    }

    pub(super) fn lies_in(&self, dir: &Arc<LogDir>) -> bool {
        Arc::ptr_eq(&self.dir.load(), dir)
    }

    /// Its log was moved.
    pub(super) fn set_dir(&self, dir: &Arc<LogDir>) {
        self.partition.set_fsyncs(&dir.fsyncs);
        self.dir.store(Arc::clone(dir));
    }

    /// The effective configs, if they come from these own ones.
    pub(super) fn config_if_from(
        &self,
        own: Option<&Arc<TopicConfigs>>,
    ) -> Option<Arc<TopicConfig>> {
        let is_same = match (self.own_configs.lock().as_ref(), own) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        is_same.then(|| self.partition.config())
    }

    pub(super) fn update(&self, wanted: &Wanted, node: &LogConfig) {
        // An alteration of the node's settings makes the configs anew, too.
        if !Arc::ptr_eq(&self.partition.config(), &wanted.role.config) {
            self.partition.log().set_settings(LogSettings::new(&wanted.role.config, node));
        }
        self.own_configs.lock().clone_from(&wanted.own_configs);
        self.partition.set_role(wanted.role.clone());
    }

    /// In a directory that is offline it stays, and is put aside by the next start.
    pub(super) fn delete(&self) {
        self.partition.stop();
        if !self.dir().health.is_online() {
            return;
        }
        if let Err(error) = self.partition.log().delete() {
            let cause = cause(&error);
            tracing::error!(partition = %self.partition.topic_partition, %error, cause, "could not delete a log");
        }
    }

    pub(super) fn retain(&self) {
        // It may be deleted meanwhile.
        if let Err(error) = self.partition.log().retain(now())
            && !matches!(error, LogError::Closed(_))
            && self.dir().health.is_online()
        {
            let cause = cause(&error);
            tracing::error!(partition = %self.partition.topic_partition, %error, cause, "could not apply retention");
        }
    }

    pub(super) fn flush_if_due(&self) {
        // It may be deleted meanwhile.
        if let Err(error) = self.partition.log().flush_if_due(now())
            && !matches!(error, LogError::Closed(_))
            && self.dir().health.is_online()
        {
            let cause = cause(&error);
            tracing::warn!(partition = %self.partition.topic_partition, %error, cause, "could not flush a log");
        }
    }

    /// Whether the next start may believe it.
    pub(super) fn close(&self) -> bool {
        let closed = self.partition.log().close();
        // Why a directory is offline was told when it went.
        if let Err(error) = &closed
            && self.dir().health.is_online()
        {
            let cause = cause(error);
            tracing::error!(partition = %self.partition.topic_partition, %error, cause, "could not close a log");
        }
        closed.is_ok()
    }
}

/// What a failure of the log itself was made of, for whoever logs it.
pub(super) fn cause(error: &LogError) -> Option<String> {
    std::error::Error::source(error).map(ToString::to_string)
}
