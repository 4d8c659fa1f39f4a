//! An error code with the sentence that tells a person why: what an item of an answer carries.
//!
//! Rule: a sentence may repeat what a client sent, and still fits the answer.

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

/// Bytes of a sentence; lengths have 15 bits in older versions, and nobody reads as much.
const SENTENCE_BYTES_MAX: usize = 2 * 1024;

/// A sentence as answers carry it: cut short where it is too long.
pub(super) fn sentence(text: impl Into<String>) -> StrBytes {
    let mut text = text.into();
    if text.len() > SENTENCE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(SENTENCE_BYTES_MAX));
        text.push('…');
    }
    StrBytes::from_string(text)
}

/// Code and message of an item; 0 and null for a good one.
pub(super) fn code_and_message<T>(result: &Result<T, Refusal>) -> (i16, Option<StrBytes>) {
    match result {
        Ok(_) => (ErrorCode::None.code(), None),
        Err(it) => (it.code.code(), Some(sentence(&*it.message))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_repeats_all_that_a_client_sent_fits_an_answer() {
        assert_eq!(sentence("short").as_str(), "short");
        let long = Refusal::invalid_request(format!("Invalid value x{}", "ä".repeat(30_000)));
        let (_, message) = code_and_message::<()>(&Err(long));
        let message = message.unwrap();
        assert!(message.starts_with("Invalid value xä") && message.ends_with("ä…"));
        assert!(message.len() <= SENTENCE_BYTES_MAX + '…'.len_utf8());
    }
}
