//! Snappy as Kafka's clients frame it: the xerial stream of snappy-java, or one bare block (librdkafka, old sarama).
//!
//! | bytes | field                                  |
//! |------:|----------------------------------------|
//! |   0-7 | `0x82 "SNAPPY" 0`                      |
//! |  8-11 | version, i32, 1                        |
//! | 12-15 | lowest version that can read it, i32, 1 |
//! |   16- | blocks: length as i32, then raw snappy |
//!
//! A header may come again between blocks, where streams were joined.

use super::CompressionError;

const MAGIC: [u8; 8] = *b"\x82SNAPPY\0";
const HEADER: [u8; 16] = *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";

/// snappy-java's default.
const BLOCK_BYTES: usize = 32 * 1024;

/// No block of snappy expands further: its densest element makes 64 bytes of 3. A length that claims more is a lie
/// that need not be believed.
const EXPANSION_MAX: usize = 64;

pub(super) fn compress(plain: &[u8]) -> Vec<u8> {
    let mut out = HEADER.to_vec();
    let mut encoder = snap::raw::Encoder::new();
    for chunk in plain.chunks(BLOCK_BYTES) {
        let block = encoder.compress_vec(chunk).expect("a chunk is under snappy's 4 GiB");
        out.extend_from_slice(&(block.len() as i32).to_be_bytes());
        out.extend_from_slice(&block);
    }
    out
}

pub(super) fn decompress(compressed: &[u8], max_bytes: usize) -> Result<Vec<u8>, CompressionError> {
    let mut plain = Vec::new();
    if !compressed.starts_with(&MAGIC) {
        append_block(&mut plain, compressed, max_bytes)?;
        return Ok(plain);
    }
    let mut rest = compressed;
    while !rest.is_empty() {
        if rest.starts_with(&MAGIC) {
            rest = rest.get(HEADER.len()..).ok_or_else(|| corrupt("the header is cut off"))?;
            continue;
        }
        let (block, after) = split_block(rest).ok_or_else(|| corrupt("a block is cut off"))?;
        append_block(&mut plain, block, max_bytes)?;
        rest = after;
    }
    Ok(plain)
}

/// The first block and what follows it.
fn split_block(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(i32::from_be_bytes(*length)).ok()?)
}

fn append_block(
    plain: &mut Vec<u8>,
    block: &[u8],
    max_bytes: usize,
) -> Result<(), CompressionError> {
    let length = snap::raw::decompress_len(block).map_err(corrupt)?;
    if length > block.len().saturating_mul(EXPANSION_MAX) {
        return Err(corrupt("a block claims to expand further than snappy can"));
    }
    if length > max_bytes - plain.len() {
        return Err(CompressionError::TooLarge(max_bytes));
    }
    let start = plain.len();
    plain.resize(start + length, 0);
    let out = plain.get_mut(start..).unwrap_or_default();
    snap::raw::Decoder::new().decompress(block, out).map_err(corrupt)?;
    Ok(())
}

fn corrupt(reason: impl ToString) -> CompressionError {
    CompressionError::corrupt("snappy", reason)
}
