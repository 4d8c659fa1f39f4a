//! Texts of group requests: copied out of the frame, since a group keeps them, and bounded, since they are stored
//! with lengths of 15 bits.

use std::sync::Arc;

use kafka_protocol::protocol::StrBytes;

use crate::base::ErrorCode;

/// What `__consumer_offsets` can hold. The guard lets no longer ones pass.
const BYTES_MAX: usize = i16::MAX as usize;

pub(super) fn copy(text: &StrBytes) -> Result<Arc<str>, ErrorCode> {
    if text.len() > BYTES_MAX { Err(ErrorCode::InvalidRequest) } else { Ok(text.as_str().into()) }
}

pub(super) fn copy_nullable(text: Option<&StrBytes>) -> Result<Option<Arc<str>>, ErrorCode> {
    text.map(copy).transpose()
}

pub(super) fn group_id(text: &StrBytes) -> Result<crate::base::GroupId, ErrorCode> {
    copy(text).map(crate::base::GroupId).map_err(|_| ErrorCode::InvalidGroupId)
}

pub(super) fn wire(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_stored_is_refused() {
        assert!(copy(&wire(&"x".repeat(BYTES_MAX))).is_ok());
        assert_eq!(copy(&wire(&"x".repeat(BYTES_MAX + 1))), Err(ErrorCode::InvalidRequest));
        assert_eq!(group_id(&wire(&"x".repeat(BYTES_MAX + 1))), Err(ErrorCode::InvalidGroupId));
    }
}
