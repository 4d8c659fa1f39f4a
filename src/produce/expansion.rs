//! Room for batches that are expanded on the spot, to look at their keys or for another codec; over all connections.
//!
//! Rule: whoever has room works, and waits for nobody meanwhile. A batch is expanded to what such a batch usually becomes; one
//! that becomes more begins again, with room for the largest. What a worker of the runtime does itself waits for no room, as
//! others would wait with it; there is no more of it than there are workers.

use parking_lot::{Condvar, Mutex};

use super::{
    ProduceError,
    decoded_budget::LARGEST_AT_ONCE,
    long_work::{LARGE_BYTES, long_work},
};
use crate::wire::record_batch::{Batch, BatchError, Compression, CompressionError};

/// What compressed bytes usually expand to, times their own number.
const USUAL_GROWTH: usize = 16;

/// Little enough that nobody has to leave the thread for a small batch.
const USUAL_BYTES_MIN: usize = 128 * 1024;

pub(crate) struct Expansion {
    free_bytes: Mutex<usize>,
    given_back: Condvar,
    /// `klamm.decompressed.max.bytes`: the most that one batch may become.
    batch_bytes_max: usize,
}

/// Bytes that nobody else may fill.
struct Room<'a> {
    of: &'a Expansion,
    bytes: usize,
}

impl Expansion {
    pub(crate) fn new(batch_bytes_max: usize) -> Self {
        let free_bytes = Mutex::new(batch_bytes_max.saturating_mul(LARGEST_AT_ONCE));
        Self { free_bytes, given_back: Condvar::new(), batch_bytes_max }
    }

    /// Does what expands a batch to at most as many bytes as it is told; twice, if the batch is an unusual one.
    ///
    /// # Errors
    ///
    /// [`ProduceError::Batch`]
    pub(crate) fn of<T>(
        &self,
        batch: &Batch,
        work: impl Fn(usize) -> Result<T, BatchError>,
    ) -> Result<T, ProduceError> {
        let most = self.batch_bytes_max;
        if batch.header.attributes.compression()? == Compression::None {
            return Ok(long_work(batch.bytes.len(), || work(most))?);
        }
        let usual = batch.bytes.len().saturating_mul(USUAL_GROWTH).max(USUAL_BYTES_MIN).min(most);
        let expand = |bytes| {
            let in_room =
                || if bytes < LARGE_BYTES { work(bytes) } else { self.room(bytes).fill(&work) };
            long_work(bytes, in_room)
        };
        Ok(match expand(usual) {
            Err(BatchError::Compression(CompressionError::TooLarge(_))) if usual < most => {
                expand(most)
            }
            done => done,
        }?)
    }

    /// Waits until nobody has so many bytes.
    fn room(&self, bytes: usize) -> Room<'_> {
        let mut free = self.free_bytes.lock();
        self.given_back.wait_while(&mut free, |free| *free < bytes);
        *free -= bytes;
        Room { of: self, bytes }
    }
}

impl Room<'_> {
    fn fill<T>(&self, work: impl FnOnce(usize) -> T) -> T {
        work(self.bytes)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        *self.of.free_bytes.lock() += self.bytes;
        self.of.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    use super::*;
    use crate::{
        base::TimestampMs,
        wire::record_batch::{BatchBuilder, RecordParts},
    };

    const MOST: usize = 1024 * 1024;

    fn batch(value_bytes: usize, codec: Compression) -> Batch {
        let mut builder = BatchBuilder::new(TimestampMs(0), codec);
        builder.push(&RecordParts {
            offset_delta: 0,
            timestamp_delta: 0,
            key: None,
            value: Some(&vec![b'x'; value_bytes]),
            headers: Vec::new(),
        });
        builder.build().unwrap()
    }

    #[tokio::test]
    async fn a_batch_has_the_usual_room_and_an_unusual_one_all_that_is_allowed() {
        for (value_bytes, codec, want) in [
            (1_000, Compression::None, vec![MOST]),
            (1_000, Compression::Zstd, vec![USUAL_BYTES_MIN]),
            (MOST / 2, Compression::Zstd, vec![USUAL_BYTES_MIN, MOST]),
        ] {
            let (expansion, batch) = (Expansion::new(MOST), batch(value_bytes, codec));
            let asked = Mutex::new(Vec::new());
            let work = |bytes| {
                asked.lock().push(bytes);
                batch.records(bytes).map(drop)
            };
            expansion.of(&batch, work).unwrap();
            assert_eq!(asked.into_inner(), want, "{value_bytes} bytes, {codec:?}");
            assert_eq!(*expansion.free_bytes.lock(), LARGEST_AT_ONCE * MOST, "all came back");
        }
        let (expansion, bomb) = (Expansion::new(MOST), batch(2 * MOST, Compression::Gzip));
        assert!(expansion.of(&bomb, |bytes| bomb.records(bytes).map(drop)).is_err());
        assert_eq!(*expansion.free_bytes.lock(), LARGEST_AT_ONCE * MOST);
    }

    #[tokio::test]
    async fn a_small_batch_waits_for_no_room() {
        let (expansion, small) = (Expansion::new(MOST), batch(1_000, Compression::Lz4));
        let _all = expansion.room(LARGEST_AT_ONCE * MOST);
        assert!(expansion.of(&small, |bytes| small.records(bytes).map(drop)).is_ok());
    }

    #[test]
    fn all_together_have_no_more_than_the_largest_few() {
        let expansion = Expansion::new(MOST);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 * LARGEST_AT_ONCE {
                scope.spawn(|| {
                    for bytes in [MOST, MOST / 3] {
                        let room = expansion.room(bytes);
                        most.fetch_max(
                            now.fetch_add(bytes, Ordering::SeqCst) + bytes,
                            Ordering::SeqCst,
                        );
                        thread::yield_now();
                        now.fetch_sub(bytes, Ordering::SeqCst);
                        drop(room);
                    }
                });
            }
        });
        assert!(most.into_inner() <= LARGEST_AT_ONCE * MOST);
    }
}
