//! Room for batches that are expanded on the spot, to look at their keys or for another codec; over all connections.
//!
//! Rule: whoever has room works, and waits for nobody meanwhile; whoever waits holds no thread, and no room. A batch is expanded
//! to what such a batch usually becomes; one that becomes more begins again, with room for the largest. What a worker of the
//! runtime does itself waits for no room, as others would wait with it; there is no more of it than there are workers.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::{
    ProduceError,
    decoded_budget::{LARGEST_AT_ONCE, take, units},
    long_work::{LARGE_BYTES, long_work},
};
use crate::wire::record_batch::{Batch, BatchError, Compression, CompressionError};

/// What compressed bytes usually expand to, times their own number.
const USUAL_GROWTH: usize = 16;

/// Little enough that nobody has to leave the thread for a small batch.
const USUAL_BYTES_MIN: usize = 128 * 1024;

pub(crate) struct Expansion {
    free: Arc<Semaphore>,
    /// `klamm.decompressed.max.bytes`: the most that one batch may become.
    batch_bytes_max: usize,
}

impl Expansion {
    pub(crate) fn new(batch_bytes_max: usize) -> Self {
        let units = LARGEST_AT_ONCE * units(batch_bytes_max) as usize;
        Self { free: Arc::new(Semaphore::new(units)), batch_bytes_max }
    }

    /// Does what expands a batch to at most as many bytes as it is told; twice, if the batch is an unusual one.
    ///
    /// # Errors
    ///
    /// [`ProduceError::Batch`]
    pub(crate) async fn of<T>(
        &self,
        batch: &Batch,
        work: impl Fn(usize) -> Result<T, BatchError>,
    ) -> Result<T, ProduceError> {
        let most = self.batch_bytes_max;
        if batch.header.attributes.compression()? == Compression::None {
            return Ok(long_work(batch.bytes.len(), || work(most))?);
        }
        let usual = batch.bytes.len().saturating_mul(USUAL_GROWTH).max(USUAL_BYTES_MIN).min(most);
        Ok(match self.in_room(usual, &work).await {
            Err(BatchError::Compression(CompressionError::TooLarge(_))) if usual < most => {
                self.in_room(most, &work).await
            }
            done => done,
        }?)
    }

    /// Waits until nobody has so many bytes, then works.
    async fn in_room<T>(&self, bytes: usize, work: impl Fn(usize) -> T) -> T {
        if bytes < LARGE_BYTES {
            return work(bytes);
        }
        let _room = take(&self.free, bytes).await;
        long_work(bytes, || work(bytes))
    }

    /// All room, which nobody else has then.
    #[cfg(test)]
    pub(crate) fn take_all(&self) -> tokio::sync::OwnedSemaphorePermit {
        let all = self.free.available_permits() as u32;
        Arc::clone(&self.free).try_acquire_many_owned(all).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use parking_lot::Mutex;

    use super::*;
    use crate::{
        base::TimestampMs,
        wire::record_batch::{BatchBuilder, RecordParts},
    };

    const MOST: usize = 1024 * 1024;
    const ALL_UNITS: usize = LARGEST_AT_ONCE * MOST / 1024;

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
            expansion.of(&batch, work).await.unwrap();
            assert_eq!(asked.into_inner(), want, "{value_bytes} bytes, {codec:?}");
            assert_eq!(expansion.free.available_permits(), ALL_UNITS, "all came back");
        }
        let (expansion, bomb) = (Expansion::new(MOST), batch(2 * MOST, Compression::Gzip));
        assert!(expansion.of(&bomb, |bytes| bomb.records(bytes).map(drop)).await.is_err());
        assert_eq!(expansion.free.available_permits(), ALL_UNITS);
    }

    #[tokio::test]
    async fn a_small_batch_waits_for_no_room_and_a_large_one_without_a_thread() {
        let expansion = Expansion::new(MOST);
        let [small, large] = [1_000, MOST / 2].map(|it| batch(it, Compression::Zstd));
        let expand = async |it: &Batch| expansion.of(it, |bytes| it.records(bytes).map(drop)).await;
        let all = expansion.take_all();
        assert!(expand(&small).now_or_never().unwrap().is_ok());
        let mut waits = Box::pin(expand(&large));
        assert!(futures_util::poll!(&mut waits).is_pending());
        drop(all);
        assert!(waits.await.is_ok());
        assert_eq!(expansion.free.available_permits(), ALL_UNITS);
    }

    #[tokio::test]
    async fn all_together_have_no_more_than_the_largest_few() {
        let expansion = Expansion::new(MOST);
        let held: Vec<_> = (0..LARGEST_AT_ONCE)
            .map(|_| take(&expansion.free, MOST).now_or_never().unwrap())
            .collect();
        assert!(expansion.in_room(LARGE_BYTES, |_| ()).now_or_never().is_none());
        drop(held);
        assert!(expansion.in_room(LARGE_BYTES, |_| ()).now_or_never().is_some());
    }
}
