//! Request and response frames: a 4-byte length, then a header, then a body.
//!
//! Rule: no memory is reserved because a length was announced; a buffer grows with what has really arrived.

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::protocol::Encodable;

use super::DecodeError;

/// Bytes of the length before a frame.
pub const LENGTH_BYTES: usize = 4;

/// Room made for the first bytes of a frame, and the least made at a time: producers' batches are as large by default.
const STEP_BYTES: usize = 16 * 1024;

/// The length of a frame, at most `max`.
///
/// # Errors
///
/// [`DecodeError::FrameLength`] for a negative length or one above `max`; the connection is closed, for where the next
/// frame begins is not known.
pub fn parse_length(prefix: [u8; LENGTH_BYTES], max: usize) -> Result<usize, DecodeError> {
    let length = i32::from_be_bytes(prefix);
    match usize::try_from(length) {
        Ok(bytes) if bytes <= max => Ok(bytes),
        _ => Err(DecodeError::FrameLength { length, max }),
    }
}

/// Refuses a frame whose API has shorter ones.
///
/// # Errors
///
/// [`DecodeError::FrameLength`], as above.
pub fn check_length(bytes: usize, max: usize) -> Result<(), DecodeError> {
    let length = i32::try_from(bytes).unwrap_or(i32::MAX);
    if bytes <= max { Ok(()) } else { Err(DecodeError::FrameLength { length, max }) }
}

/// The API key of a frame of which these bytes have arrived.
pub fn api_key(arrived: &[u8]) -> Option<i16> {
    arrived.first_chunk().map(|it| i16::from_be_bytes(*it))
}

/// The room to make next for a frame of `length` bytes of which `arrived` are there: three times as much again, and not more.
/// Each step copies what has arrived: with twice as much again that was 6 % of a large Produce.
pub fn step(arrived: usize, length: usize) -> usize {
    length.saturating_sub(arrived).min(arrived.saturating_mul(3).max(STEP_BYTES))
}

/// A response that the crate cannot put into the request's version: a field that the version lacks was set.
#[derive(Debug, thiserror::Error)]
#[error("encode a response: {0}")]
pub struct EncodeError(pub(super) String);

/// A whole frame in one buffer: length, header and body.
///
/// `header_version` is 0 or 1: with 1 an empty list of tagged fields follows the correlation id.
pub fn encode_response(
    correlation_id: i32,
    header_version: i16,
    body: &impl Encodable,
    version: i16,
) -> Result<Bytes, EncodeError> {
    let failed = |error| EncodeError(format!("{error:#}"));
    let body_bytes = body.compute_size(version).map_err(failed)?;
    let header_bytes = if header_version >= 1 { 5 } else { 4 };
    let mut frame = BytesMut::with_capacity(LENGTH_BYTES + header_bytes + body_bytes);
    frame.put_i32(0);
    frame.put_i32(correlation_id);
    if header_version >= 1 {
        frame.put_u8(0);
    }
    body.encode(&mut frame, version).map_err(failed)?;
    let length = i32::try_from(frame.len() - LENGTH_BYTES)
        .map_err(|_| EncodeError("it is over 2 GiB".into()))?;
    if let Some(prefix) = frame.first_chunk_mut() {
        *prefix = length.to_be_bytes();
    }
    Ok(frame.freeze())
}

#[cfg(test)]
mod tests {
    use bytes::Buf;
    use kafka_protocol::{
        messages::{
            FindCoordinatorResponse, HeartbeatResponse, ResponseHeader,
            find_coordinator_response::Coordinator,
        },
        protocol::Decodable,
    };

    use super::*;

    #[test]
    fn a_length_is_taken_up_to_the_limit_and_never_negative() {
        let check = |length: i32| parse_length(length.to_be_bytes(), 100).ok();
        assert_eq!(check(0), Some(0));
        assert_eq!(check(100), Some(100));
        assert_eq!(check(101), None);
        assert_eq!(check(-1), None);
        assert_eq!(check(i32::MAX), None);
        assert_eq!(check(i32::MIN), None);
    }

    #[test]
    fn a_buffer_grows_with_what_has_arrived_and_not_with_what_was_announced() {
        let announced = 100 * 1024 * 1024;
        let mut arrived = 0;
        while arrived < announced {
            let step = step(arrived, announced);
            assert!(step > 0 && step <= (3 * arrived).max(STEP_BYTES));
            arrived += step;
        }
        assert_eq!(arrived, announced);
        assert_eq!(step(0, 10), 10);
    }

    #[test]
    fn a_response_frame_is_read_back_with_either_header() {
        for (version, header_version) in [(3, 0), (4, 1)] {
            let body = HeartbeatResponse::default().with_error_code(27);
            let mut frame = encode_response(77, header_version, &body, version).unwrap();
            assert_eq!(frame.get_i32() as usize, frame.len());
            let header = ResponseHeader::decode(&mut frame, header_version).unwrap();
            assert_eq!(header.correlation_id, 77);
            assert_eq!(HeartbeatResponse::decode(&mut frame, version).unwrap(), body);
            assert!(frame.is_empty());
        }
    }

    #[test]
    fn a_field_that_the_version_lacks_is_an_error_and_not_half_a_frame() {
        let body =
            FindCoordinatorResponse::default().with_coordinators(vec![Coordinator::default()]);
        assert!(encode_response(1, 0, &body, 1).is_err());
    }
}
