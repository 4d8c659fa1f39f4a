//! Frames: how everything of the metadata quorum stands on disk.
//!
//! | bytes | field   | type                                              |
//! |------:|---------|---------------------------------------------------|
//! |   0-3 | length  | u32, bytes of the body                            |
//! |     4 | version | u8, of the body's layout; 1                       |
//! |   5-8 | crc     | u32, CRC-32C of length, version and body          |
//! |    9- | body    | postcard                                          |
//!
//! Integers are big-endian. What a crash leaves is a frame that is cut short or whose checksum fails *at the end* of a
//! file: a torn tail, which was never acknowledged and is cut off. A bad frame with a good one behind it is no crash's work
//! but a damaged disk, and is never cut.

use bytes::{Buf, BufMut};
use serde::{Serialize, de::DeserializeOwned};

const HEADER_BYTES: usize = 9;

/// The layout of bodies that this build writes. A change of layout raises it and keeps reading the old one.
const VERSION: u8 = 1;

/// Why bytes are no frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    /// The last frame is not whole. Everything from `offset` on may be cut.
    #[error("the frame at byte {offset} is torn")]
    Torn { offset: usize },
    /// The disk has changed what was written: an operator restores the file.
    #[error("the frame at byte {offset} is damaged, and good ones follow it")]
    Damaged { offset: usize },
    /// Written by a newer Klamm, or not by Klamm.
    #[error("the frame at byte {offset} has version {version}, this build reads {VERSION}")]
    UnknownVersion { offset: usize, version: u8 },
    #[error("the frame at byte {offset} holds something else than expected: {reason}")]
    BadBody { offset: usize, reason: String },
}

/// The bytes of a frame.
///
/// # Panics
///
/// If the body cannot be encoded or passes 4 GiB: it is built from memory, not from input.
pub(super) fn encode(body: &impl Serialize) -> Vec<u8> {
    let body = postcard::to_allocvec(body).expect("a body in memory encodes");
    let length = u32::try_from(body.len()).expect("a body under 4 GiB");
    let crc = checksum(length, VERSION, &body);
    let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
    bytes.put_u32(length);
    bytes.put_u8(VERSION);
    bytes.put_u32(crc);
    bytes.put_slice(&body);
    bytes
}

/// Reads every frame of a file. With the error come the frames before it.
pub(super) fn decode_all<T: DeserializeOwned>(bytes: &[u8]) -> (Vec<T>, Option<FrameError>) {
    let mut frames = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() {
        match decode_at(bytes, offset) {
            Ok((frame, end)) => {
                frames.push(frame);
                offset = end;
            }
            Err(error) => return (frames, Some(error)),
        }
    }
    (frames, None)
}

/// Reads a file that is one frame.
pub(super) fn decode_one<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    match decode_at(bytes, 0)? {
        (frame, end) if end == bytes.len() => Ok(frame),
        (_, offset) => Err(FrameError::Damaged { offset }),
    }
}

fn decode_at<T: DeserializeOwned>(bytes: &[u8], offset: usize) -> Result<(T, usize), FrameError> {
    let Some((version, body)) = intact_at(bytes, offset) else {
        let is_damage = (offset + 1..bytes.len()).any(|it| intact_at(bytes, it).is_some());
        return Err(if is_damage {
            FrameError::Damaged { offset }
        } else {
            FrameError::Torn { offset }
        });
    };
    if version != VERSION {
        return Err(FrameError::UnknownVersion { offset, version });
    }
    let frame = postcard::from_bytes(body)
        .map_err(|it| FrameError::BadBody { offset, reason: it.to_string() })?;
    Ok((frame, offset + HEADER_BYTES + body.len()))
}

/// Version and body of the frame at `offset`, if its checksum holds.
fn intact_at(bytes: &[u8], offset: usize) -> Option<(u8, &[u8])> {
    let mut rest = bytes.get(offset..)?;
    let length = rest.try_get_u32().ok()?;
    let version = rest.try_get_u8().ok()?;
    let crc = rest.try_get_u32().ok()?;
    let body = rest.get(..usize::try_from(length).ok()?)?;
    (checksum(length, version, body) == crc).then_some((version, body))
}

fn checksum(length: u32, version: u8, body: &[u8]) -> u32 {
    let header = crc32c::crc32c_append(crc32c::crc32c(&length.to_be_bytes()), &[version]);
    crc32c::crc32c_append(header, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(texts: &[&str]) -> Vec<u8> {
        texts.iter().flat_map(encode).collect()
    }

    #[test]
    fn frames_read_back_in_order() {
        assert_eq!(decode_all::<String>(&file(&["a", "", "cc"])).0, ["a", "", "cc"]);
        assert_eq!(decode_one::<String>(&file(&["a"])), Ok("a".into()));
    }

    #[test]
    fn a_file_cut_anywhere_keeps_its_whole_frames_and_ends_torn() {
        let bytes = file(&["first", "second"]);
        let boundary = encode(&"first").len();
        for cut in 0..bytes.len() {
            let (frames, error) = decode_all::<String>(&bytes[..cut]);
            let whole = usize::from(cut >= boundary);
            let is_at_boundary = cut == 0 || cut == boundary;
            assert_eq!(frames.len(), whole, "cut at {cut}");
            let torn = FrameError::Torn { offset: whole * boundary };
            assert_eq!(error, (!is_at_boundary).then_some(torn), "cut at {cut}");
        }
    }

    #[test]
    fn a_flipped_bit_before_good_frames_is_damage_and_at_the_end_a_torn_tail() {
        let bytes = file(&["first", "second"]);
        let boundary = encode(&"first").len();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            let (frames, error) = decode_all::<String>(&flipped);
            let want = if at < boundary {
                (0, FrameError::Damaged { offset: 0 })
            } else {
                (1, FrameError::Torn { offset: boundary })
            };
            assert_eq!((frames.len(), error), (want.0, Some(want.1)), "flip at {at}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = encode(&"a");
        bytes[4] = 2;
        let crc = checksum((bytes.len() - HEADER_BYTES) as u32, 2, &bytes[HEADER_BYTES..]);
        bytes[5..9].copy_from_slice(&crc.to_be_bytes());
        assert_eq!(
            decode_one::<String>(&bytes),
            Err(FrameError::UnknownVersion { offset: 0, version: 2 })
        );
    }

    #[test]
    fn a_body_of_another_shape_is_an_error_and_never_a_panic() {
        let bytes = encode(&u8::MAX);
        assert!(matches!(decode_one::<String>(&bytes), Err(FrameError::BadBody { .. })));
    }
}
