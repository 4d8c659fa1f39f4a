//! An error code with the sentence that tells a person why: what an item of an answer carries.

use kafka_protocol::protocol::StrBytes;

use crate::{base::ErrorCode, controller::ControllerError, quorum::QuorumError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }
}

impl From<ControllerError> for Refusal {
    fn from(error: ControllerError) -> Self {
        Self::new((&error).into(), error.to_string())
    }
}

impl From<QuorumError> for Refusal {
    fn from(error: QuorumError) -> Self {
        let message = error.to_string();
        Self::new(error.into(), message)
    }
}

/// Code and message of an item; 0 and null for a good one.
pub(super) fn code_and_message<T>(result: &Result<T, Refusal>) -> (i16, Option<StrBytes>) {
    match result {
        Ok(_) => (ErrorCode::None.code(), None),
        Err(it) => (it.code.code(), Some(StrBytes::from_string(it.message.clone()))),
    }
}
