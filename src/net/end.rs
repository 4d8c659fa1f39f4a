//! Why connections end.

use std::io;

use crate::{api::CloseReason, wire::DecodeError};

/// Why a connection ended, other than that the client was done.
#[derive(Debug, thiserror::Error)]
pub(super) enum End {
    #[error("it was silent for too long")]
    Idle,
    #[error("{0} in time")]
    Stalled(&'static str),
    #[error("others wait for the room that its half-read request takes")]
    Lagging,
    #[error("the node stops")]
    Stopped,
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Records that were announced in an answer: it cannot be ended otherwise.
    #[error("read records: {0}")]
    Unreadable(io::Error),
    #[error(transparent)]
    Frame(#[from] DecodeError),
    #[error(transparent)]
    Closed(CloseReason),
}

impl End {
    /// A word for metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Stalled(_) | Self::Lagging => "stalled",
            Self::Stopped => "stopped",
            Self::Io(_) => "io",
            Self::Unreadable(_) => "unreadable",
            Self::Frame(_) => "frame",
            Self::Closed(reason) => reason.name(),
        }
    }

    pub(super) fn is_bug(&self) -> bool {
        matches!(self, Self::Closed(reason) if reason.is_bug())
    }
}
