//! A fetch's answer around records that are not in memory: the `kafka-protocol` crate's own encoding, with a gap where
//! each partition's records belong.
//!
//! Rule: every byte but the lengths of frame and records is the crate's. Records are the last field of a partition before
//! its tagged fields, so the crate's sizes tell where they lie; a place that does not look as it should is an error and
//! never a frame.

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::{messages::FetchResponse, protocol::Encodable};

use super::frame::{EncodeError, LENGTH_BYTES, encode_response};

/// Stands in a response for records that are elsewhere.
pub const STAND_IN: Bytes = Bytes::from_static(&[0x55]);

/// From this version on, lengths are varints, and tagged fields follow.
const FLEXIBLE_SINCE: i16 = 12;

/// A whole frame in one piece more than there are `lengths`: between two of them the records go, of that many bytes, for
/// each [`STAND_IN`] of the body.
///
/// # Errors
///
/// As [`encode_response`], and where stand-ins and lengths are not as many.
pub fn encode_around(
    correlation_id: i32,
    header_version: i16,
    body: &FetchResponse,
    version: i16,
    lengths: &[usize],
) -> Result<Vec<Bytes>, EncodeError> {
    let whole = encode_response(correlation_id, header_version, body, version)?;
    let ends = stand_in_ends(body, version, whole.len())?;
    if ends.len() != lengths.len() {
        return Err(EncodeError(format!("{} gaps for {} records", ends.len(), lengths.len())));
    }
    let mut frame = BytesMut::with_capacity(whole.len() + 4 * lengths.len());
    let (mut cuts, mut from) = (vec![0], 0);
    for (end, &length) in ends.into_iter().zip(lengths) {
        let before = whole.get(from..end).and_then(|it| it.strip_suffix(&stand_in(version)[..]));
        frame
            .put_slice(before.ok_or_else(|| EncodeError("records are not in their place".into()))?);
        put_length(&mut frame, version, length)?;
        cuts.push(frame.len());
        from = end;
    }
    frame.put_slice(whole.get(from..).unwrap_or_default());
    put_frame_length(&mut frame, lengths)?;
    cuts.push(frame.len());
    let frame = frame.freeze();
    Ok(cuts.array_windows().map(|&[from, to]| frame.slice(from..to)).collect())
}

/// Where each stand-in ends in a frame of so many bytes.
fn stand_in_ends(
    body: &FetchResponse,
    version: i16,
    frame_bytes: usize,
) -> Result<Vec<usize>, EncodeError> {
    let no_tags = usize::from(version >= FLEXIBLE_SINCE);
    let mut at = frame_bytes - tail_bytes(body, version)?;
    let mut ends = Vec::new();
    for topic in body.responses.iter().rev() {
        let begins = at - size(topic, version)?;
        at -= no_tags;
        for partition in topic.partitions.iter().rev() {
            if partition.records.as_ref() == Some(&STAND_IN) {
                ends.push(at - no_tags);
            }
            at -= size(partition, version)?;
        }
        at = begins;
    }
    ends.reverse();
    Ok(ends)
}

/// The bytes behind the last topic: the tagged fields of the whole.
fn tail_bytes(body: &FetchResponse, version: i16) -> Result<usize, EncodeError> {
    if version < FLEXIBLE_SINCE {
        return Ok(0);
    }
    let bare = FetchResponse::default();
    let tagged = bare.clone().with_node_endpoints(body.node_endpoints.clone());
    Ok(size(&tagged, version)? - size(&bare, version)? + 1)
}

fn size(part: &impl Encodable, version: i16) -> Result<usize, EncodeError> {
    part.compute_size(version).map_err(|error| EncodeError(format!("{error:#}")))
}

/// A stand-in with its length, as the crate encodes it.
fn stand_in(version: i16) -> Vec<u8> {
    let length: &[u8] = if version >= FLEXIBLE_SINCE { &[2] } else { &[0, 0, 0, 1] };
    [length, &STAND_IN].concat()
}

fn put_length(frame: &mut BytesMut, version: i16, length: usize) -> Result<(), EncodeError> {
    let length = i32::try_from(length).map_err(|_| too_long())?;
    if version < FLEXIBLE_SINCE {
        frame.put_i32(length);
        return Ok(());
    }
    // 0 is null.
    let mut left = length as u32 + 1;
    while left >= 0x80 {
        frame.put_u8(left as u8 | 0x80);
        left >>= 7;
    }
    frame.put_u8(left as u8);
    Ok(())
}

fn put_frame_length(frame: &mut BytesMut, lengths: &[usize]) -> Result<(), EncodeError> {
    let length = lengths.iter().fold(frame.len() - LENGTH_BYTES, |sum, it| sum.saturating_add(*it));
    let length = i32::try_from(length).map_err(|_| too_long())?;
    if let Some(prefix) = frame.first_chunk_mut() {
        *prefix = length.to_be_bytes();
    }
    Ok(())
}

fn too_long() -> EncodeError {
    EncodeError("it is over 2 GiB".into())
}

#[cfg(test)]
mod tests;
