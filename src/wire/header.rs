//! Request headers, read without trusting them.
//!
//! | field          | type                                | since version |
//! |----------------|-------------------------------------|--------------:|
//! | api key        | i16                                 |             0 |
//! | api version    | i16                                 |             0 |
//! | correlation id | i32                                 |             0 |
//! | client id      | classic string, may be null         |             1 |
//! | tagged fields  | varint count, then tag, size, bytes |             2 |
//!
//! Which header version a request has follows from its key and version, so both are read first.

use std::borrow::Cow;

use bytes::{Buf, Bytes};
use kafka_protocol::messages::ApiKey;

use super::{DecodeError, reader::Reader};

/// The header of a request, whose version may be one that nobody serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader {
    pub api_key: ApiKey,
    pub api_version: i16,
    pub correlation_id: i32,
    client_id: Bytes,
}

impl RequestHeader {
    /// Takes the header off the front of `frame`; what is left is the body.
    ///
    /// # Errors
    ///
    /// [`DecodeError::UnknownApi`], and [`DecodeError::Truncated`] or [`DecodeError::BadLength`] for a header that
    /// does not fit its frame. The connection is closed: the place of the body is not known.
    pub fn parse(frame: &mut Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(frame);
        let key = reader.i16().ok_or(truncated("api key"))?;
        let api_version = reader.i16().ok_or(truncated("api version"))?;
        let correlation_id = reader.i32().ok_or(truncated("correlation id"))?;
        let api_key = ApiKey::try_from(key).map_err(|()| DecodeError::UnknownApi(key))?;
        let client_id = read_client_id(&mut reader)?;
        let client_id = frame.slice_ref(client_id);
        if api_key.request_header_version(api_version) >= 2 {
            skip_tagged_fields(&mut reader)?;
        }
        let header_bytes = reader.position();
        frame.advance(header_bytes);
        Ok(Self { api_key, api_version, correlation_id, client_id })
    }

    /// Empty where the client gave none. What is no UTF-8 is replaced, as Java does.
    pub fn client_id(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.client_id)
    }
}

/// Every request of a version that is still served has header version 1 or 2, and so a client id.
fn read_client_id<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    let field = "client id";
    let length = reader.i16().ok_or(truncated(field))?;
    if length == -1 {
        return Ok(&[]);
    }
    let length = usize::try_from(length)
        .map_err(|_| DecodeError::BadLength { field, length: length.into() })?;
    reader.take(length).ok_or(truncated(field))
}

fn skip_tagged_fields(reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let field = "header tags";
    // Each takes two bytes and more, so a count beyond the frame ends at its first missing byte.
    let count = reader.unsigned_varint().ok_or(truncated(field))?;
    for _ in 0..count {
        let _tag = reader.unsigned_varint().ok_or(truncated(field))?;
        let size = reader.unsigned_varint().ok_or(truncated(field))?;
        reader.take(size as usize).ok_or(truncated(field))?;
    }
    Ok(())
}

fn truncated(field: &'static str) -> DecodeError {
    DecodeError::Truncated { field }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::{
        messages::RequestHeader as TheirHeader, protocol::encode_request_header_into_buffer,
    };
    use proptest::prelude::*;

    use super::*;

    fn encoded(key: ApiKey, version: i16, client_id: Option<&str>) -> Bytes {
        let header = TheirHeader::default()
            .with_request_api_key(key as i16)
            .with_request_api_version(version)
            .with_correlation_id(7)
            .with_client_id(client_id.map(|it| it.to_owned().into()));
        let mut out = BytesMut::new();
        encode_request_header_into_buffer(&mut out, &header).unwrap();
        out.extend_from_slice(b"body");
        out.freeze()
    }

    #[test]
    fn a_header_of_every_api_and_version_is_read_and_the_body_is_left() {
        for key in ApiKey::iter() {
            let versions = key.valid_versions();
            for version in versions.min..=versions.max {
                let mut frame = encoded(key, version, Some("me"));
                let header = RequestHeader::parse(&mut frame).unwrap();
                assert_eq!((header.api_key, header.api_version), (key, version));
                assert_eq!((header.correlation_id, header.client_id()), (7, "me".into()));
                assert_eq!(frame, "body");
            }
        }
    }

    #[test]
    fn api_versions_of_a_version_yet_to_come_still_has_a_readable_header() {
        let mut frame = Bytes::from_static(&[0, 18, 0, 99, 0, 0, 0, 1, 0xff, 0xff, 0, 9, 9]);
        let header = RequestHeader::parse(&mut frame).unwrap();
        assert_eq!((header.api_version, header.client_id()), (99, "".into()));
        assert_eq!(frame[..], [9, 9]);
    }

    #[test]
    fn a_header_cut_anywhere_is_an_error_and_no_panic() {
        for version in [3, 9] {
            let whole = encoded(ApiKey::Produce, version, Some("client"));
            for cut in 0..whole.len() - b"body".len() {
                let outcome = RequestHeader::parse(&mut whole.slice(..cut));
                assert!(
                    matches!(outcome, Err(DecodeError::Truncated { .. })),
                    "{cut}: {outcome:?}"
                );
            }
        }
    }

    #[test]
    fn hostile_lengths_and_unknown_keys_are_errors() {
        #[track_caller]
        fn refused(frame: &'static [u8], want: DecodeError) {
            assert_eq!(RequestHeader::parse(&mut Bytes::from_static(frame)), Err(want));
        }
        refused(&[0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0], DecodeError::UnknownApi(0x7f00));
        refused(
            &[0, 3, 0, 1, 0, 0, 0, 0, 0xff, 0xfe],
            DecodeError::BadLength { field: "client id", length: -2 },
        );
        refused(&[0, 3, 0, 1, 0, 0, 0, 0, 0x7f, 0xff, 1], truncated("client id"));
        // 4 billion tags; one tag of 4 GiB.
        let tags = truncated("header tags");
        refused(&[0, 18, 0, 3, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0], tags.clone());
        refused(&[0, 18, 0, 3, 0, 0, 0, 0, 0, 0, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f], tags);
    }

    proptest! {
        #[test]
        fn random_frames_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = RequestHeader::parse(&mut bytes.into());
        }
    }
}
