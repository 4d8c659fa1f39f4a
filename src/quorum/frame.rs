//! Frames: how everything of the metadata quorum stands on disk.
//!
//! | bytes | field   | type                                              |
//! |------:|---------|---------------------------------------------------|
//! |   0-3 | length  | u32, bytes of the body                            |
//! |     4 | version | u8, of the body's layout; 1                       |
//! |   5-8 | crc     | u32, CRC-32C of length, version and body          |
//! |    9- | body    | postcard                                          |
//!
//! Integers are big-endian. What a crash leaves *at the end* of a file is a frame that is cut short or has sectors that were
//! never written and read as zeros: a torn tail, which was never acknowledged and is cut off. Any other bad frame, and one
//! with a good one behind it, is no crash's work but a damaged disk, and is never cut.

use bytes::{Buf, BufMut};
use serde::{Serialize, de::DeserializeOwned};

use super::checksums::Checksums;

const HEADER_BYTES: usize = 9;

/// What a disk writes as a whole: of a write that a power cut ended, some sectors arrive and others stay zeros.
const SECTOR_BYTES: usize = 512;

/// The layout of bodies that this build writes. A change of layout raises it and keeps reading the old one.
const VERSION: u8 = 1;

/// Why bytes are no frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    /// The last frame is not whole. Everything from `offset` on may be cut.
    #[error("the frame at byte {offset} is torn")]
    Torn { offset: usize },
    /// The disk has changed what was written: an operator restores the file.
    #[error("the frame at byte {offset} is damaged")]
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
        return Err(if is_torn(bytes, offset) {
            FrameError::Torn { offset }
        } else {
            FrameError::Damaged { offset }
        });
    };
    if version != VERSION {
        return Err(FrameError::UnknownVersion { offset, version });
    }
    let frame = postcard::from_bytes(body)
        .map_err(|it| FrameError::BadBody { offset, reason: it.to_string() })?;
    Ok((frame, offset + HEADER_BYTES + body.len()))
}

/// Whether the bad frame at `offset` is what a write leaves that was never finished.
fn is_torn(bytes: &[u8], offset: usize) -> bool {
    (is_short(bytes, offset) || has_unwritten_sector(bytes, offset))
        && !has_frame_behind(bytes, offset)
}

/// Whether a good frame begins anywhere behind `offset`. Where, nothing tells that can be believed.
fn has_frame_behind(bytes: &[u8], offset: usize) -> bool {
    let tail = bytes.get(offset..).unwrap_or_default();
    let checksums = Checksums::of(tail);
    (1..tail.len()).any(|at| {
        header_at(tail, at).is_some_and(|(length, version, crc, rest)| {
            let len = usize::try_from(length).ok().filter(|it| *it <= rest.len());
            let head = header_checksum(length, version);
            len.and_then(|it| checksums.behind(head, at + HEADER_BYTES, it)) == Some(crc)
        })
    })
}

/// Whether the file ends before the frame does. It does not where the rest of the file is a whole frame but for the length
/// that its header tells: then the length is what was damaged.
fn is_short(bytes: &[u8], offset: usize) -> bool {
    let Some((length, version, crc, rest)) = header_at(bytes, offset) else { return true };
    let is_short = usize::try_from(length).map_or(true, |it| it > rest.len());
    let is_whole = u32::try_from(rest.len()).is_ok_and(|it| checksum(it, version, rest) == crc);
    is_short && !is_whole
}

fn has_unwritten_sector(bytes: &[u8], offset: usize) -> bool {
    // The first one may hold the end of the frame before.
    let (head, rest) = match bytes.get(offset..) {
        Some(tail) => tail.split_at(tail.len().min(SECTOR_BYTES - offset % SECTOR_BYTES)),
        None => return false,
    };
    let mut sectors = std::iter::once(head).chain(rest.chunks(SECTOR_BYTES));
    sectors.any(|sector| sector.iter().all(|&it| it == 0))
}

/// Length, version and checksum of the frame at `offset`, and everything behind them.
fn header_at(bytes: &[u8], offset: usize) -> Option<(u32, u8, u32, &[u8])> {
    let mut rest = bytes.get(offset..)?;
    let length = rest.try_get_u32().ok()?;
    let version = rest.try_get_u8().ok()?;
    let crc = rest.try_get_u32().ok()?;
    Some((length, version, crc, rest))
}

/// Version and body of the frame at `offset`, if its checksum holds.
fn intact_at(bytes: &[u8], offset: usize) -> Option<(u8, &[u8])> {
    let (length, version, crc, rest) = header_at(bytes, offset)?;
    let body = rest.get(..usize::try_from(length).ok()?)?;
    (checksum(length, version, body) == crc).then_some((version, body))
}

fn checksum(length: u32, version: u8, body: &[u8]) -> u32 {
    crc32c::crc32c_append(header_checksum(length, version), body)
}

fn header_checksum(length: u32, version: u8) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&length.to_be_bytes()), &[version])
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
    fn a_flipped_bit_is_damage_wherever_it_is() {
        let bytes = file(&["first", "second"]);
        let boundary = encode(&"first").len();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let whole = usize::from(bit / 8 >= boundary);
            let (frames, error) = decode_all::<String>(&flipped);
            let damaged = FrameError::Damaged { offset: whole * boundary };
            assert_eq!((frames.len(), error), (whole, Some(damaged)), "flip of bit {bit}");
        }
    }

    #[test]
    fn sectors_that_were_never_written_are_a_torn_tail() {
        let last = "x".repeat(3 * SECTOR_BYTES);
        let bytes = file(&["first", &last]);
        let boundary = encode(&"first").len();
        let torn = Some(FrameError::Torn { offset: boundary });
        let ends = (1..=bytes.len() / SECTOR_BYTES).map(|it| it * SECTOR_BYTES);
        let starts = [boundary].into_iter().chain(ends.clone());
        for (start, end) in starts.zip(ends.chain([bytes.len()])) {
            let mut unwritten = bytes.clone();
            unwritten[start..end].fill(0);
            assert_eq!(decode_all::<String>(&unwritten).1, torn, "bytes {start} to {end}");
            unwritten[start..].fill(0);
            assert_eq!(decode_all::<String>(&unwritten).1, torn, "bytes from {start}");
        }
    }

    #[test]
    fn a_large_tail_is_searched_for_a_good_frame_without_reading_it_again_and_again() {
        // Wherever one begins to read, it looks like the length of a frame that ends within the file.
        let large = "\u{0}\u{0}\u{1}\u{2}".repeat(1 << 16);
        let mut bytes = file(&["first", &large]);
        let cut = bytes.len() - 1;
        let boundary = encode(&"first").len();
        let torn = Some(FrameError::Torn { offset: boundary });
        assert_eq!(decode_all::<String>(&bytes[..cut]).1, torn);
        bytes.truncate(cut);
        bytes.extend(encode(&"behind"));
        let damaged = Some(FrameError::Damaged { offset: boundary });
        assert_eq!(decode_all::<String>(&bytes).1, damaged);
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
