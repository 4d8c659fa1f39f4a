//! Hands out producer ids, each once in the cluster's life: from a block that the controller has given this broker, then from
//! the next. What is left of a block at a crash is lost.

use std::{ops::Range, sync::Arc};

use tokio::sync::Mutex;

use super::{Quorum, QuorumError};
use crate::{base::ProducerId, controller};

/// A broker's producer ids.
pub struct ProducerIds {
    quorum: Arc<Quorum>,
    block: Mutex<Range<i64>>,
}

impl ProducerIds {
    /// Allocates nothing until the first id is asked for.
    pub fn new(quorum: Arc<Quorum>) -> Self {
        Self { quorum, block: Mutex::new(0..0) }
    }

    /// An id that nobody has had.
    pub async fn next(&self) -> Result<ProducerId, QuorumError> {
        let mut block = self.block.lock().await;
        if block.is_empty() {
            let allocated = self.quorum.change(controller::allocate_producer_ids).await?;
            *block = allocated.map_err(|_| QuorumError::ProducerIdsExhausted)?;
        }
        block.next().map(ProducerId).ok_or(QuorumError::ProducerIdsExhausted)
    }
}
