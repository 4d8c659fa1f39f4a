//! Where in its segment an offset lies, for the offsets that readers ask for next: the log's end, and where reads ended.
//! A reader that follows the log finds its place, and where to stop, without a look at an index.
//!
//! Rule: a mark is about one segment, not about its name: of a segment that took the place of another it says nothing.

use std::sync::{Arc, Weak};

use super::segment::Segment;
use crate::base::Offset;

/// Places of readers that are kept: as many readers may follow a log, each a little behind the other.
const READERS_MAX: usize = 16;

/// The batch that begins with `offset`, or the next one after it, begins at `position`.
#[derive(Clone, Debug)]
struct Mark {
    offset: Offset,
    segment: Weak<Segment>,
    position: u64,
}

impl Mark {
    fn is_of(&self, segment: &Arc<Segment>, offset: Offset) -> bool {
        self.offset == offset && std::ptr::eq(self.segment.as_ptr(), Arc::as_ptr(segment))
    }
}

#[derive(Debug, Default)]
pub(super) struct Marks {
    end: Option<Mark>,
    /// The oldest is replaced.
    readers: Vec<Mark>,
    oldest: usize,
}

impl Marks {
    /// The log ends here.
    pub(super) fn set_end(&mut self, segment: &Arc<Segment>, offset: Offset, position: u64) {
        self.end = Some(Mark { offset, segment: Arc::downgrade(segment), position });
    }

    /// A reader will go on here.
    pub(super) fn add(&mut self, segment: &Arc<Segment>, offset: Offset, position: u64) {
        if self.readers.iter().any(|it| it.is_of(segment, offset)) {
            return;
        }
        let mark = Mark { offset, segment: Arc::downgrade(segment), position };
        if self.readers.len() < READERS_MAX {
            self.readers.push(mark);
        } else if let Some(oldest) = self.readers.get_mut(self.oldest) {
            *oldest = mark;
            self.oldest = (self.oldest + 1) % READERS_MAX;
        }
    }

    /// Where in the segment `offset` lies, if it is known.
    pub(super) fn find(&self, segment: &Arc<Segment>, offset: Offset) -> Option<u64> {
        let marks = self.end.iter().chain(&self.readers);
        marks.into_iter().find(|it| it.is_of(segment, offset)).map(|it| it.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::TimestampMs,
        log::file::{Disk, RealDisk},
    };

    fn segment() -> Arc<Segment> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        Arc::new(Segment::new(&disk, "/nowhere".as_ref(), Offset(0), TimestampMs(0)))
    }

    #[test]
    fn the_end_and_the_newest_readers_are_known() {
        let (mut marks, segment) = (Marks::default(), segment());
        for at in 0..READERS_MAX as i64 + 3 {
            marks.add(&segment, Offset(at), at as u64 * 10);
        }
        marks.set_end(&segment, Offset(100), 1_000);
        for (offset, want) in [(2, None), (3, Some(30)), (18, Some(180)), (100, Some(1_000))] {
            assert_eq!(marks.find(&segment, Offset(offset)), want, "{offset}");
        }
    }

    #[test]
    fn a_segment_in_the_place_of_another_has_no_marks() {
        let (mut marks, old) = (Marks::default(), segment());
        marks.add(&old, Offset(1), 10);
        marks.set_end(&old, Offset(2), 20);
        drop(old);
        let new = segment();
        assert_eq!([1, 2].map(|it| marks.find(&new, Offset(it))), [None, None]);
    }
}
