//! What the decoded batches of all lanes may hold together, and what transforms make of them.
//!
//! Rule: a batch has its share before it is decoded, in the order of asking, and gives it back when it is stored. Nobody
//! waits for a lane while holding one: parts and dead letters go straight to their targets' logs, so no lanes can wait
//! for each other.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{ProduceError, long_work::long_work};
use crate::wire::record_batch::{Batch, Compression, DecodedBatch};

/// A record or header counts as so many bytes at least. Its places cost up to five times that on its way,
/// however small it is.
const RECORD_BYTES: usize = 64;

/// So many of the largest batches may be decoded at the same time: a small machine has no more cores to ask plugins with.
pub(super) const LARGEST_AT_ONCE: usize = 4;

/// What transforms may make of a batch, times its own bytes: what a call's records may grow to in its answer.
const GROWTH: usize = 16;

/// And what they may make of the smallest: little enough that hundreds of partitions ask their plugins at once.
const GROWTH_BYTES_MIN: usize = 1024 * 1024;

/// A permit is a KiB, so that a share fits the semaphore's `u32`.
const UNIT_BYTES: usize = 1024;

/// The common budget.
pub(crate) struct DecodedBudget {
    units: Arc<Semaphore>,
    /// As many for new contents. Whoever asks here has a share of the others, and nobody the other way round.
    grown: Arc<Semaphore>,
    /// `klamm.decompressed.max.bytes`: the most that one batch may count.
    pub(crate) batch_bytes_max: usize,
}

/// A batch and its share.
pub(crate) struct Decoded {
    pub(crate) batch: Arc<DecodedBatch>,
    _share: OwnedSemaphorePermit,
}

/// Room for what transforms make of a batch.
pub(crate) struct Growth {
    /// The most that the batch's records may hold afterwards.
    pub(crate) bytes_max: usize,
    share: OwnedSemaphorePermit,
}

impl DecodedBudget {
    pub(crate) fn new(batch_bytes_max: usize) -> Self {
        let units = LARGEST_AT_ONCE * units(batch_bytes_max) as usize;
        let [units, grown] = [units; 2].map(|it| Arc::new(Semaphore::new(it)));
        Self { units, grown, batch_bytes_max }
    }

    /// Waits for room, then decodes.
    ///
    /// # Errors
    ///
    /// [`ProduceError::Batch`]; [`ProduceError::TooManyRecords`].
    pub(crate) async fn decode(&self, batch: &Batch) -> Result<Decoded, ProduceError> {
        let bytes_max = self.batch_bytes_max;
        // What the header alone tells is refused before anything is held.
        check_count(usize::try_from(batch.header.records_count).unwrap_or(0), bytes_max)?;
        let is_compressed = batch.header.attributes.compression()? != Compression::None;
        let largest = largest(batch, is_compressed).min(bytes_max);
        let mut share = take(&self.units, largest).await;
        let expands_to = if is_compressed { usize::MAX } else { batch.bytes.len() };
        let decoded = long_work(expands_to, || batch.decode(bytes_max))?;
        let count = decoded.records.iter().map(|it| 1 + it.headers_count as usize).sum();
        check_count(count, bytes_max)?;
        shrink(&mut share, size(count, decoded.data.len()));
        Ok(Decoded { batch: Arc::new(decoded), _share: share })
    }

    /// Waits for room for what so many transforms may make of a batch.
    pub(crate) async fn room_to_grow(&self, batch: &DecodedBatch, transforms: usize) -> Growth {
        let bytes_max = match transforms {
            0 => 0,
            _ => batch.data.len().saturating_mul(GROWTH).max(GROWTH_BYTES_MIN),
        };
        let bytes_max = bytes_max.min(self.batch_bytes_max);
        Growth { bytes_max, share: take(&self.grown, bytes_max).await }
    }
}

impl Growth {
    /// Gives back what is not needed, once it is known what was made.
    pub(crate) fn shrink(&mut self, used: usize) {
        shrink(&mut self.share, used);
    }
}

/// Waits for so many bytes of a budget, in the order of asking.
pub(super) async fn take(from: &Arc<Semaphore>, bytes: usize) -> OwnedSemaphorePermit {
    let taken = Arc::clone(from).acquire_many_owned(units(bytes)).await;
    taken.expect("the budget is never closed")
}

/// Refuses a batch of so many tiny records and headers that they would cost many times their bytes.
fn check_count(count: usize, bytes_max: usize) -> Result<(), ProduceError> {
    let max = (bytes_max / RECORD_BYTES).max(1);
    if count > max { Err(ProduceError::TooManyRecords { count, max }) } else { Ok(()) }
}

/// What a batch counts.
fn size(count: usize, data_bytes: usize) -> usize {
    data_bytes.max(count.saturating_mul(RECORD_BYTES))
}

/// The most that a batch may count before it is decoded: a header has two bytes at least, and what is compressed may
/// expand without end.
fn largest(batch: &Batch, is_compressed: bool) -> usize {
    if is_compressed { usize::MAX } else { size(batch.bytes.len() / 2, batch.bytes.len()) }
}

/// Bytes as permits.
pub(super) fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

/// Gives back what was not needed.
fn shrink(share: &mut OwnedSemaphorePermit, used: usize) {
    let unused = share.num_permits().saturating_sub(units(used) as usize);
    drop(share.split(unused));
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use futures_util::FutureExt as _;

    use super::*;
    use crate::{
        base::TimestampMs,
        plugin::hook::RecordAction,
        produce::{
            edit::{Changed, Fate},
            route::Destination,
        },
        wire::record_batch::{BatchBuilder, Header, RecordParts, RecordSpan},
    };

    const BATCH_BYTES_MAX: usize = 64 * 1024;
    const TOTAL_BYTES: usize = LARGEST_AT_ONCE * BATCH_BYTES_MAX;

    fn record(offset_delta: i32, value: &[u8]) -> RecordParts<'_> {
        RecordParts {
            offset_delta,
            timestamp_delta: 0,
            key: None,
            value: Some(value),
            headers: Vec::new(),
        }
    }

    fn batch(records: i32, value: &[u8], compression: Compression) -> Batch {
        let mut builder = BatchBuilder::new(TimestampMs(0), compression);
        for offset_delta in 0..records {
            builder.push(&record(offset_delta, value));
        }
        builder.build().unwrap()
    }

    /// Decodes them all at once, each held for a while; the most bytes that were decoded at a time.
    async fn most_at_once(batches: Vec<Batch>) -> usize {
        let budget = Arc::new(DecodedBudget::new(BATCH_BYTES_MAX));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let lane = |batch: Batch| {
            let (budget, now, most) = (budget.clone(), now.clone(), most.clone());
            tokio::spawn(async move {
                let decoded = budget.decode(&batch).await.unwrap();
                let bytes = decoded.batch.data.len();
                most.fetch_max(now.fetch_add(bytes, Ordering::SeqCst) + bytes, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(5)).await;
                now.fetch_sub(bytes, Ordering::SeqCst);
            })
        };
        futures_util::future::join_all(batches.into_iter().map(lane)).await;
        assert_eq!(budget.units.available_permits() * UNIT_BYTES, TOTAL_BYTES, "all came back");
        most.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn lanes_together_decode_no_more_than_the_budget() {
        let large = batch(1, &vec![b'x'; 60 * 1024], Compression::Zstd);
        assert!(large.bytes.len() < 1024, "it expands");
        let most = most_at_once(vec![large; 24]).await;
        assert!(most <= TOTAL_BYTES, "{most}");
    }

    #[tokio::test]
    async fn whoever_finds_no_room_waits_for_a_share_to_come_back() {
        let budget = DecodedBudget::new(BATCH_BYTES_MAX);
        let large = batch(1, &vec![b'x'; 60 * 1024], Compression::None);
        let decode = || budget.decode(&large).now_or_never();
        let mut held: Vec<_> = (0..LARGEST_AT_ONCE).map(|_| decode().unwrap()).collect();
        assert!(decode().is_none());
        held.pop();
        assert!(decode().is_some());
    }

    #[tokio::test]
    async fn a_small_batch_that_might_have_been_large_keeps_a_small_share() {
        let budget = DecodedBudget::new(BATCH_BYTES_MAX);
        let small = batch(10, &[b'x'; 100], Compression::Lz4);
        let mut held = Vec::new();
        for _ in 0..10 * LARGEST_AT_ONCE {
            held.push(budget.decode(&small).await.unwrap());
        }
    }

    #[tokio::test]
    async fn tiny_records_count_more_than_their_bytes_and_too_many_are_refused() {
        let budget = DecodedBudget::new(BATCH_BYTES_MAX);
        let most = (BATCH_BYTES_MAX / RECORD_BYTES) as i32;
        let held = budget.decode(&batch(most, b"", Compression::None)).await.unwrap();
        assert!(held.batch.data.len() < BATCH_BYTES_MAX / 4);
        let left = budget.units.available_permits() * UNIT_BYTES;
        assert_eq!(left, TOTAL_BYTES - BATCH_BYTES_MAX);
        let refused = budget.decode(&batch(most + 1, b"", Compression::Gzip)).await;
        assert!(matches!(refused, Err(ProduceError::TooManyRecords { .. })));
        drop(held);

        let mut builder = BatchBuilder::new(TimestampMs(0), Compression::Gzip);
        let headers = vec![Header { name: b"", value: None }; most as usize];
        builder.push(&RecordParts { headers, ..record(0, b"") });
        let refused = budget.decode(&builder.build().unwrap()).await;
        assert!(matches!(refused, Err(ProduceError::TooManyRecords { .. })));
        assert_eq!(budget.units.available_permits() * UNIT_BYTES, TOTAL_BYTES);
    }

    #[tokio::test]
    async fn what_is_no_good_batch_gives_its_share_back() {
        let budget = DecodedBudget::new(BATCH_BYTES_MAX);
        let bomb = batch(1, &vec![b'x'; 2 * BATCH_BYTES_MAX], Compression::Gzip);
        assert!(matches!(budget.decode(&bomb).await, Err(ProduceError::Batch(_))));
        assert_eq!(budget.units.available_permits() * UNIT_BYTES, TOTAL_BYTES);
    }

    #[tokio::test]
    async fn what_transforms_make_has_a_budget_of_its_own_and_is_given_back_when_known() {
        let budget = DecodedBudget::new(BATCH_BYTES_MAX);
        let large = batch(1, &vec![b'x'; 60 * 1024], Compression::None);
        let decoded = budget.decode(&large).await.unwrap();
        let grow = || budget.room_to_grow(&decoded.batch, 1).now_or_never();
        let mut held: Vec<_> = (0..LARGEST_AT_ONCE).map(|_| grow().unwrap()).collect();
        assert!(grow().is_none());
        let without = budget.room_to_grow(&decoded.batch, 0).now_or_never();
        assert_eq!(without.unwrap().bytes_max, 0, "without transforms nothing grows");
        held[0].shrink(0);
        assert_eq!(grow().unwrap().bytes_max, BATCH_BYTES_MAX);
    }

    /// `docs/operations.md` tells what memory the lanes may take.
    #[test]
    fn a_record_costs_at_most_five_times_what_it_counts() {
        let places = 2 * size_of::<RecordSpan>();
        let hooks = size_of::<RecordAction>() + size_of::<Fate>() + size_of::<Changed>();
        // Two lists of indices, a target, an offset delta, an index in a part.
        let lists = 2 * size_of::<usize>() + 4 + size_of::<Option<i32>>() + size_of::<usize>();
        let cost = places + hooks + size_of::<Destination>() + lists;
        assert!(cost <= 5 * RECORD_BYTES, "{cost}");
    }
}
