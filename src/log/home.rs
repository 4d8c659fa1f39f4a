//! The log directory that the folder of a log lies in. Another one after a move.

use std::sync::Arc;

use super::{Log, file::Disk, health::Health};

#[derive(Debug)]
pub(super) struct Home {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) health: Arc<Health>,
}

impl Log {
    /// As of now: to be asked anew for each use.
    pub(super) fn home(&self) -> arc_swap::Guard<Arc<Home>> {
        self.home.load()
    }
}
