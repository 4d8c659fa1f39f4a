//! What becomes of a request.

use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::{
    base::ErrorCode,
    log::LogSlice,
    replica::Records,
    wire::{DecodeError, frame::EncodeError},
};

/// What a request leads to, and whether its connection may go on before there is an answer. Answers leave in the order
/// of their requests in any case.
pub enum Outcome {
    /// All is done.
    Ready(Answer),
    /// The connection's next request waits for the answer, as in Kafka: it may depend on what this one does.
    Exclusive(BoxFuture<'static, Answer>),
    /// The request has its place in the order of things; the next one may begin.
    Pipelined(BoxFuture<'static, Answer>),
}

/// How a request ends.
#[derive(Debug)]
pub enum Answer {
    /// A whole frame, its length included.
    Frame(Bytes),
    /// A whole frame, of which parts are not in memory.
    Parts(Vec<Part>),
    /// A producer asked for none (`acks=0`).
    NoResponse,
    Close(CloseReason),
}

/// A part of a frame.
#[derive(Debug)]
pub enum Part {
    Bytes(Bytes),
    Records(Records),
}

impl Part {
    pub fn slice(&self) -> Option<&LogSlice> {
        match self {
            Self::Bytes(_) => None,
            Self::Records(records) => Some(&records.slice),
        }
    }

    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Records(records) => records.slice.len(),
        }
    }
}

/// Why a connection is closed: there is no answer, or none that the client could read by its request's version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    #[error("decode a request: {0}")]
    Undecodable(#[from] DecodeError),
    #[error("API key {key} is not served in version {version}")]
    Unserved { key: i16, version: i16 },
    /// A producer that asks for no answer is told of a failure in this way, as in Kafka.
    #[error("store records sent with acks=0: {0}")]
    Unanswered(ErrorCode),
    /// A bug of ours.
    #[error("{api}: {error}")]
    Unencodable { api: &'static str, error: String },
    /// A bug of ours.
    #[error("{api}: the handler panicked: {message}")]
    Panicked { api: &'static str, message: String },
}

impl CloseReason {
    pub(super) fn unencodable(api: &'static str, error: &EncodeError) -> Self {
        Self::Unencodable { api, error: error.to_string() }
    }

    /// Whether it is a bug of Klamm's, so that someone should look; otherwise it is the client's mistake.
    pub fn is_bug(&self) -> bool {
        match self {
            Self::Undecodable(_) | Self::Unserved { .. } | Self::Unanswered(_) => false,
            Self::Unencodable { .. } | Self::Panicked { .. } => true,
        }
    }

    /// A word for metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Undecodable(_) => "undecodable",
            Self::Unserved { .. } => "unserved",
            Self::Unanswered(_) => "unanswered",
            Self::Unencodable { .. } => "unencodable",
            Self::Panicked { .. } => "panicked",
        }
    }
}
