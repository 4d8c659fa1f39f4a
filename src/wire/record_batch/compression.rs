//! Codecs with a limit on what they may expand to.

use std::io::{self, Read, Write};

use flate2::{read::MultiGzDecoder, write::GzEncoder};
use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use super::{BatchError, xerial};

/// Kafka's codecs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    None,
    Gzip,
    Snappy,
    Lz4,
    Zstd,
}

/// A codec, and how hard it tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    pub compression: Compression,
    /// `None`: the codec's default. Snappy has no other, and `lz4_flex` neither.
    level: Option<i32>,
}

impl Codec {
    /// At a level as Kafka's topic configs have it: 1 to 9 of gzip, −131,072 to 22 of zstd.
    pub fn at(compression: Compression, level: Option<i32>) -> Self {
        Self { compression, level }
    }

    /// Whether it takes long over little: some megabytes a second.
    pub fn is_slow(self) -> bool {
        self.compression == Compression::Zstd && self.level.is_some_and(|it| it > ZSTD_LEVEL_FAST)
    }
}

impl From<Compression> for Codec {
    fn from(compression: Compression) -> Self {
        Self { compression, level: None }
    }
}

/// Why bytes could not be decompressed, or not within the limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompressionError {
    #[error("the batch expands to more than {0} bytes")]
    TooLarge(usize),
    #[error("{codec}: {reason}")]
    Corrupt { codec: &'static str, reason: String },
}

impl Compression {
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The codec of the lowest three attribute bits.
    pub fn from_bits(bits: i16) -> Result<Self, BatchError> {
        match bits {
            0 => Ok(Self::None),
            1 => Ok(Self::Gzip),
            2 => Ok(Self::Snappy),
            3 => Ok(Self::Lz4),
            4 => Ok(Self::Zstd),
            other => Err(BatchError::UnknownCompression(other)),
        }
    }

    pub fn bits(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Gzip => 1,
            Self::Snappy => 2,
            Self::Lz4 => 3,
            Self::Zstd => 4,
        }
    }
}

impl CompressionError {
    pub(super) fn corrupt(codec: &'static str, reason: impl ToString) -> Self {
        Self::Corrupt { codec, reason: reason.to_string() }
    }
}

/// Compresses, by default at Kafka's default level of the codec.
pub fn compress(codec: impl Into<Codec>, plain: &[u8]) -> Vec<u8> {
    let Codec { compression, level } = codec.into();
    match compression {
        Compression::None => plain.to_vec(),
        Compression::Gzip => gzip(level, plain),
        Compression::Snappy => xerial::compress(plain),
        Compression::Lz4 => lz4(plain),
        Compression::Zstd => zstd::bulk::compress(plain, level.unwrap_or(ZSTD_LEVEL))
            .expect("zstd compresses whatever it is given"),
    }
}

/// Decompresses at most `max_bytes`; what would be more is refused before it is allocated.
pub fn decompress(
    codec: Compression,
    compressed: &[u8],
    max_bytes: usize,
) -> Result<Vec<u8>, CompressionError> {
    match codec {
        Compression::None if compressed.len() > max_bytes => {
            Err(CompressionError::TooLarge(max_bytes))
        }
        Compression::None => Ok(compressed.to_vec()),
        // Members one after the other are one stream, as for Java's `GZIPInputStream`.
        Compression::Gzip => read_bounded("gzip", MultiGzDecoder::new(compressed), max_bytes),
        Compression::Snappy => xerial::decompress(compressed, max_bytes),
        // Ends with the first frame, as Kafka's `Lz4BlockInputStream` does.
        Compression::Lz4 => read_bounded("lz4", FrameDecoder::new(compressed), max_bytes),
        Compression::Zstd => read_bounded("zstd", zstd_decoder(compressed, max_bytes)?, max_bytes),
    }
}

/// `zstd`'s own default, and Kafka's.
const ZSTD_LEVEL: i32 = 3;

/// Above it, zstd compresses less than some thirty megabytes a second.
const ZSTD_LEVEL_FAST: i32 = 9;

/// Windows up to 8 MiB are always allowed (level 19 asks for that much), larger ones only as far as the output may
/// go; 128 MiB is where zstd itself stops without being told.
const ZSTD_WINDOW_LOG_MIN: u32 = 23;
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// How much is decompressed between two looks at the limit.
const STEP_BYTES: usize = 32 * 1024;

fn gzip(level: Option<i32>, plain: &[u8]) -> Vec<u8> {
    let level = level.and_then(|it| u32::try_from(it).ok()).map(flate2::Compression::new);
    let mut encoder = GzEncoder::new(Vec::new(), level.unwrap_or_default());
    encoder.write_all(plain).and_then(|()| encoder.finish()).expect(NEVER_FAILS)
}

/// A frame as Kafka's `Lz4BlockOutputStream` writes it: independent blocks of 64 KiB, no checksum of the content.
fn lz4(plain: &[u8]) -> Vec<u8> {
    let info = FrameInfo::new()
        .block_mode(BlockMode::Independent)
        .block_size(BlockSize::Max64KB)
        .content_checksum(false)
        .block_checksums(false);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(plain).expect(NEVER_FAILS);
    encoder.finish().expect(NEVER_FAILS)
}

const NEVER_FAILS: &str = "an encoder fails only when its output does, and a Vec takes all";

/// Frames one after the other are one stream, as for `zstd-jni`.
fn zstd_decoder(compressed: &[u8], max_bytes: usize) -> Result<impl Read, CompressionError> {
    let window_log = max_bytes
        .checked_next_power_of_two()
        .map_or(ZSTD_WINDOW_LOG_MAX, usize::trailing_zeros)
        .clamp(ZSTD_WINDOW_LOG_MIN, ZSTD_WINDOW_LOG_MAX);
    let set_up = || {
        let mut decoder = zstd::stream::read::Decoder::with_buffer(compressed)?;
        decoder.window_log_max(window_log)?;
        Ok(decoder)
    };
    set_up().map_err(|error: io::Error| CompressionError::corrupt("zstd", error))
}

/// Reads to the end, or to one byte more than allowed. The output grows with what has come, by doubling up to the limit.
fn read_bounded(
    codec: &'static str,
    mut reader: impl Read,
    max_bytes: usize,
) -> Result<Vec<u8>, CompressionError> {
    let mut plain = Vec::new();
    let mut step = vec![0; STEP_BYTES];
    loop {
        let read = match reader.read(&mut step) {
            Ok(0) => return Ok(plain),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CompressionError::corrupt(codec, error)),
        };
        if read > max_bytes - plain.len() {
            return Err(CompressionError::TooLarge(max_bytes));
        }
        if plain.capacity() - plain.len() < read {
            let doubled = (plain.capacity() * 2).clamp(plain.len() + read, max_bytes);
            plain.reserve_exact(doubled - plain.len());
        }
        plain.extend_from_slice(step.get(..read).unwrap_or_default());
    }
}
