//! The replicated metadata log, on the openraft crate, which nothing outside this room sees. One voter runs
//! the same code as many.

use std::{path::PathBuf, sync::Arc};

use tokio::sync::watch;

use crate::{
    base::BrokerId,
    machine::Decision,
    metadata::{MetadataImage, MetadataRecord},
};

/// Why a change of metadata was not committed.
#[derive(Debug, thiserror::Error)]
pub enum QuorumError {
    /// There is no leader now, or it is another node: the caller retries or asks there.
    #[error("not the active controller")]
    NotController,
    #[error("the metadata log: {0}")]
    Storage(String),
    #[error("the quorum has stopped")]
    Stopped,
}

/// A member of the metadata quorum.
pub struct Quorum {
    image: watch::Receiver<Arc<MetadataImage>>,
}

impl Quorum {
    /// Opens the log under `dir` (`__cluster_metadata-0`), replays it, and leads when this node is the only voter.
    pub async fn start(dir: PathBuf, node_id: BrokerId) -> Result<Arc<Self>, QuorumError> {
        let _ = (dir, node_id);
        todo!()
    }

    /// The newest committed image.
    pub fn image(&self) -> Arc<MetadataImage> {
        self.image.borrow().clone()
    }

    /// Tells of each new image.
    pub fn watch(&self) -> watch::Receiver<Arc<MetadataImage>> {
        self.image.clone()
    }

    /// Decides against the newest image and commits what was decided, one change at a time. Returns the decision's
    /// response once its records are committed and in the image, or the decision's own refusal.
    pub async fn change<T, E>(
        &self,
        decide: impl FnOnce(&MetadataImage) -> Result<Decision<MetadataRecord, T>, E> + Send,
    ) -> Result<Result<T, E>, QuorumError>
    where
        T: Send,
        E: Send,
    {
        let _ = decide;
        todo!()
    }

    pub async fn shutdown(&self) -> Result<(), QuorumError> {
        todo!()
    }
}
