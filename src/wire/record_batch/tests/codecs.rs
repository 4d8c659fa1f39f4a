//! Compressed bytes of strangers: bombs, claims, and the forms in which clients write them.

use super::*;

#[test]
fn what_expands_beyond_the_limit_is_refused_by_every_codec() {
    let plain = vec![b'x'; 3 * MAX_BYTES];
    for codec in Compression::ALL {
        let compressed = compress(codec, &plain);
        let exact = decompress(codec, &compressed, plain.len());
        assert_eq!(exact.as_deref(), Ok(plain.as_slice()), "{codec:?}");
        let refused = decompress(codec, &compressed, plain.len() - 1);
        assert_eq!(refused, Err(CompressionError::TooLarge(plain.len() - 1)), "{codec:?}");
        assert!(decompress(codec, &compressed, 0).is_err());
        assert_eq!(decompress(codec, &compress(codec, b""), 0), Ok(Vec::new()), "{codec:?}");
    }
}

#[test]
fn a_snappy_block_that_only_claims_gigabytes_costs_nothing() {
    // Claimed: 4 GiB less one byte, raw and framed.
    let raw = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, b'x'];
    assert!(matches!(
        decompress(Compression::Snappy, &raw, usize::MAX),
        Err(CompressionError::Corrupt { .. })
    ));
    let framed = [b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01\0\0\0\x07".as_slice(), &raw].concat();
    assert!(decompress(Compression::Snappy, &framed, usize::MAX).is_err());
    let negative = [b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".as_slice(), &[0xff; 4]].concat();
    assert!(decompress(Compression::Snappy, &negative, MAX_BYTES).is_err());
}

#[test]
fn streams_that_were_joined_are_read_as_one() {
    for codec in [Compression::Gzip, Compression::Snappy, Compression::Zstd] {
        let joined = [compress(codec, b"one,"), compress(codec, b"two")].concat();
        let plain = decompress(codec, &joined, MAX_BYTES);
        assert_eq!(plain.as_deref(), Ok(b"one,two".as_slice()), "{codec:?}");
    }
}

#[test]
fn a_bare_snappy_block_is_read_as_librdkafka_writes_it() {
    let raw = snap::raw::Encoder::new().compress_vec(b"bare bare bare bare").unwrap();
    let plain = decompress(Compression::Snappy, &raw, MAX_BYTES);
    assert_eq!(plain.as_deref(), Ok(b"bare bare bare bare".as_slice()));
}

#[test]
fn a_zstd_frame_that_asks_for_a_gigabyte_window_is_refused() {
    // Magic, no single segment, window log 30, then a raw last block of no bytes.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (30 - 10) << 3, 0x01, 0, 0];
    assert!(decompress(Compression::Zstd, &frame, usize::MAX).is_err());
    let small = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (20 - 10) << 3, 0x01, 0, 0];
    assert_eq!(decompress(Compression::Zstd, &small, MAX_BYTES), Ok(Vec::new()));
}
