//! Where a read begins and ends in its segment: whole batches, found by marks and indexes, without a walk over all of
//! their headers.
//!
//! Rule: nothing at or beyond the ceiling is inside, whatever headers in between say: the end is looked up by itself. The
//! headers at both ends are checked; a damaged batch in the middle is found by its CRC, by whoever reads it.

use std::{ops::Deref, sync::Arc};

use super::{
    Health, Log, LogError, LogSlice,
    cursor::{LOOKUP_WINDOW_BYTES, Located},
    segment::Segment,
};
use crate::{
    base::Offset,
    wire::record_batch::{BatchHeader, HEADER_BYTES},
};

/// A part of a segment that begins with the batch that a reader asked for.
pub(super) struct Span {
    pub(super) segment: Arc<Segment>,
    pub(super) first: Located,
    /// Where the last whole batch ends.
    pub(super) end: u64,
}

/// The last segments of a log, as they were published together.
pub(super) struct SegmentsFrom {
    all: Arc<Vec<Arc<Segment>>>,
    first: usize,
}

impl Deref for SegmentsFrom {
    type Target = [Arc<Segment>];

    fn deref(&self) -> &Self::Target {
        self.all.get(self.first..).unwrap_or_default()
    }
}

/// How far a read may go.
#[derive(Clone, Copy)]
struct Bounds {
    ceiling: Offset,
    max_bytes: usize,
}

/// To find what was asked for, one must wait for a disk, or say an error.
#[derive(Clone, Copy, Debug)]
pub struct NotAtHand;

impl Span {
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.end - self.first.position).unwrap_or(usize::MAX)
    }

    fn slice(&self, health: &Arc<Health>) -> Result<LogSlice, LogError> {
        let log = &self.segment.log;
        let file = log.get().map_err(LogError::storage("open", &log.path()))?;
        Ok(LogSlice::new(&self.segment, health, file, self.first.position, self.bytes()))
    }
}

impl Log {
    /// Whole batches from the one that holds `from`, up to but excluding `ceiling`, at most `max_bytes` of them; the
    /// first one is there whole however large if `at_least_one` (KIP-74). `None` where there is nothing of that.
    ///
    /// # Errors
    ///
    /// [`LogError::OffsetOutOfRange`] below the log's start or beyond its end, whatever the ceiling;
    /// [`LogError::CorruptBatch`] where the batch that was asked for cannot be what its header says.
    pub fn slice(
        &self,
        from: Offset,
        ceiling: Offset,
        max_bytes: usize,
        at_least_one: bool,
    ) -> Result<Option<LogSlice>, LogError> {
        let span = self.span(from, ceiling, max_bytes, at_least_one)?;
        self.told(span.map(|it| it.slice(&self.home().health)).transpose())
    }

    /// The same for a reader that follows the log, without waiting for a disk: what is new since it was here is in the
    /// page cache, and no more than `max_bytes`.
    pub fn slice_at_hand(
        &self,
        from: Offset,
        ceiling: Offset,
        max_bytes: usize,
    ) -> Result<Option<LogSlice>, NotAtHand> {
        let log_end = self.log_end_offset();
        if from < self.log_start_offset() || from > log_end {
            return Err(NotAtHand);
        }
        let ceiling = ceiling.min(log_end);
        if from >= ceiling {
            return Ok(None);
        }
        let active = self.active();
        let (position, end) = {
            let mut marks = self.marks.lock();
            let position = marks.find(&active, from).ok_or(NotAtHand)?;
            let end = marks.find(&active, ceiling).ok_or(NotAtHand)?;
            marks.add(&active, ceiling, end);
            (position, end)
        };
        let len = usize::try_from(end.saturating_sub(position)).map_err(|_| NotAtHand)?;
        let file = active.log.get().map_err(|_| NotAtHand)?;
        let mut header = [0; HEADER_BYTES];
        let is_cached = file.read_cached_at(&mut header, position);
        let first = BatchHeader::parse(&header).map_err(|_| NotAtHand)?;
        let is_fit = first.base_offset == from
            && first.last_offset() < ceiling
            && (first.size_bytes()..=max_bytes).contains(&len);
        match is_cached {
            Ok(true) if is_fit => {
                Ok(Some(LogSlice::new(&active, &self.home().health, file, position, len)))
            }
            _ => Err(NotAtHand),
        }
    }

    /// As [`Log::slice`]: where it lies.
    pub(super) fn span(
        &self,
        from: Offset,
        ceiling: Offset,
        max_bytes: usize,
        at_least_one: bool,
    ) -> Result<Option<Span>, LogError> {
        let log_end = self.log_end_offset();
        let segments = self.segments_from(from);
        // After the segments are chosen: retention may have taken the one that was asked for.
        self.check_range(from, log_end)?;
        let bounds = Bounds { ceiling: ceiling.min(log_end), max_bytes };
        if from >= bounds.ceiling {
            return Ok(None);
        }
        for (at, segment) in segments.iter().enumerate() {
            let next_base = segments.get(at + 1).map(|it| it.base_offset);
            let found = self.locate_below(segment, from, next_base.unwrap_or(log_end));
            let Some(first) = self.told(found)? else { continue };
            let first_fits = first.header.size_bytes() <= max_bytes || at_least_one;
            if first.header.last_offset() >= bounds.ceiling || !first_fits {
                return Ok(None);
            }
            let end = self.told(self.end_of(segment, &first, bounds, next_base))?;
            return Ok(Some(Span { segment: Arc::clone(segment), first, end }));
        }
        Ok(None)
    }

    /// Whether there are records from `from` on, or may be soon.
    ///
    /// # Errors
    ///
    /// [`LogError::OffsetOutOfRange`]
    pub fn check_offset(&self, from: Offset) -> Result<(), LogError> {
        self.check_range(from, self.log_end_offset())
    }

    fn check_range(&self, asked: Offset, log_end: Offset) -> Result<(), LogError> {
        let is_inside = (self.log_start_offset()..=log_end).contains(&asked);
        if is_inside { Ok(()) } else { Err(self.out_of_range(asked)) }
    }

    /// The segment that may hold `offset`, and those after it.
    pub(super) fn segments_from(&self, offset: Offset) -> SegmentsFrom {
        let all = self.segments.load_full();
        let after = all.partition_point(|it| it.base_offset <= offset);
        SegmentsFrom { all, first: after.saturating_sub(1) }
    }

    /// The first batch that ends at or after `from`, in a segment whose batches all end below `end`.
    ///
    /// # Errors
    ///
    /// [`LogError::CorruptBatch`] also where the batch would end beyond, or where the next one belies it: nothing of it
    /// is delivered, but nobody waits for it to be committed either.
    fn locate_below(
        &self,
        segment: &Arc<Segment>,
        from: Offset,
        end: Offset,
    ) -> Result<Option<Located>, LogError> {
        let marked = self.marks.lock().find(segment, from);
        let at_mark = match marked {
            Some(position) => segment.cursor_from(position, from, HEADER_BYTES)?.next(),
            None => Ok(None),
        };
        let found = match at_mark {
            // A mark that damage put there is no reason to fail.
            Ok(None) | Err(LogError::CorruptBatch { .. }) => segment.locate(from)?,
            found => found?,
        };
        let Some(found) = found else { return Ok(None) };
        if found.header.last_offset() >= end || is_belied(segment, &found, from)? {
            return Err(LogError::CorruptBatch { offset: from, segment: segment.log.path() });
        }
        Ok(Some(found))
    }

    /// Where the last whole batch ends that lies below the ceiling and within the bytes asked for.
    ///
    /// # Errors
    ///
    /// [`LogError::CorruptBatch`] where the first batch would end beyond the ceiling.
    fn end_of(
        &self,
        segment: &Arc<Segment>,
        first: &Located,
        bounds: Bounds,
        next_base: Option<Offset>,
    ) -> Result<u64, LogError> {
        let bytes = first.header.size_bytes().max(bounds.max_bytes) as u64;
        let limit = first.position.saturating_add(bytes);
        let (top, above) = match self.top_of(segment, bounds.ceiling, next_base) {
            Err(LogError::CorruptBatch { .. }) => {
                return whole_end(segment, first, limit, bounds.ceiling);
            }
            top => top?,
        };
        if top < first.end() {
            let offset = first.header.base_offset;
            return Err(LogError::CorruptBatch { offset, segment: segment.log.path() });
        }
        let (end, next) = if top <= limit {
            (top, above)
        } else {
            let start = boundary_before(segment, first, limit)?;
            walk(segment, first, start.as_ref().unwrap_or(first), limit, bounds.ceiling)?
        };
        self.marks.lock().add(segment, next, end);
        Ok(end)
    }

    /// Where the first batch begins that ends at or beyond the ceiling, or where the segment ends; and the offset that
    /// is, or will be, there.
    fn top_of(
        &self,
        segment: &Arc<Segment>,
        ceiling: Offset,
        next_base: Option<Offset>,
    ) -> Result<(u64, Offset), LogError> {
        // Before the search: what is appended meanwhile is beyond the ceiling.
        let size = segment.size();
        if let Some(next_base) = next_base.filter(|it| *it <= ceiling) {
            return Ok((size, next_base));
        }
        if let Some(position) = self.marks.lock().find(segment, ceiling) {
            return Ok((position, ceiling));
        }
        let found = segment.locate(ceiling)?;
        Ok(found.map_or((size, ceiling), |it| (it.position, it.header.base_offset)))
    }
}

/// Whether the batch behind another one tells that that one's offsets are wrong.
fn is_belied(segment: &Segment, it: &Located, from: Offset) -> Result<bool, LogError> {
    match segment.cursor_from(it.end(), Offset(0), HEADER_BYTES)?.next() {
        Ok(next) => Ok(next.is_some_and(|next| belies(&next.header, &it.header, from))),
        Err(LogError::CorruptBatch { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether the offsets of a batch are wrong and not those of the next one, where they overlap. `expected` is what the
/// batch may begin with at the earliest.
pub(super) fn belies(next: &BatchHeader, it: &BatchHeader, expected: Offset) -> bool {
    let overlap = next.base_offset <= it.last_offset();
    overlap && (it.base_offset > expected || next.base_offset > it.base_offset)
}

/// A batch at or before `limit` to begin a walk with: one that the index knows.
fn boundary_before(
    segment: &Segment,
    first: &Located,
    limit: u64,
) -> Result<Option<Located>, LogError> {
    let found = segment
        .offset_index
        .lookup_position(limit)
        .map_err(LogError::storage("read", &segment.offset_index.entries.file().path()))?;
    let Some(entry) = found.filter(|it| it.position >= first.end()) else { return Ok(None) };
    let expected = first.header.last_offset() + 1;
    match segment.cursor_from(entry.position, expected, HEADER_BYTES)?.next() {
        Ok(located) => Ok(located.filter(|it| it.header.last_offset() == entry.last_offset)),
        Err(LogError::CorruptBatch { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// From a batch on, where the last one ends that lies within the limit and below the ceiling, but not before the end of the
/// first; and the offset that goes on there.
fn walk(
    segment: &Segment,
    first: &Located,
    start: &Located,
    limit: u64,
    ceiling: Offset,
) -> Result<(u64, Offset), LogError> {
    let base_offset = start.header.base_offset;
    let mut cursor = segment.cursor_from(start.position, base_offset, LOOKUP_WINDOW_BYTES)?;
    let (mut end, mut next) = (start.position, base_offset);
    loop {
        match cursor.next() {
            Ok(Some(it)) if it.end() <= limit && it.header.last_offset() < ceiling => {
                (end, next) = (it.end(), it.header.last_offset() + 1);
            }
            Ok(_) | Err(LogError::CorruptBatch { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    if end < first.end() {
        return Ok((first.end(), first.header.last_offset() + 1));
    }
    Ok((end, next))
}

/// Where the last whole batch ends before the damage that lies on the way to the ceiling. Nothing tells where the ceiling
/// is, so each batch must be what its CRC says.
fn whole_end(
    segment: &Segment,
    first: &Located,
    limit: u64,
    ceiling: Offset,
) -> Result<u64, LogError> {
    let base_offset = first.header.base_offset;
    let mut cursor = segment.cursor_from(first.position, base_offset, LOOKUP_WINDOW_BYTES)?;
    let mut end = None;
    while let Some(it) = cursor.next_whole()?
        && it.end() <= limit
        && it.header.last_offset() < ceiling
    {
        end = Some(it.end());
    }
    end.ok_or_else(|| LogError::CorruptBatch { offset: base_offset, segment: segment.log.path() })
}
