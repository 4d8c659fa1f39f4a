//! A cleaned segment takes the place of those that it was made from.
//!
//! | files of the segment at offset B                       | mean                                                                 |
//! |--------------------------------------------------------|----------------------------------------------------------------------|
//! | `B.log.cleaned`, `B.index.cleaned`, `B.timeindex.cleaned` | it is not whole: a start removes it                                 |
//! | `B.log.swap` (and its indexes, `.swap` or in place)    | it is whole, and holds for all segments from B to its last offset    |
//!
//! Rule: the `.log` is renamed last, and only when all else of a step is on disk; so its name tells how far the change has come. A
//! start carries on from there.

use std::{path::Path, sync::Arc};

use super::super::{
    Log, LogError,
    cursor::LOOKUP_WINDOW_BYTES,
    file::Disk,
    file_name,
    log::{State, Writer},
    segment::Segment,
};
use crate::base::{Offset, TimestampMs};

impl Log {
    /// Puts `cleaned` in the place of `old`. `false`, with its files removed, if the log does not hold all of `old` any more.
    pub(super) fn swap(
        &self,
        old: &[Arc<Segment>],
        cleaned: Arc<Segment>,
        now: TimestampMs,
    ) -> Result<bool, LogError> {
        let _set = self.segment_set.lock();
        if !self.holds(old) {
            cleaned.remove(self.home().disk.as_ref());
            return Ok(false);
        }
        self.take_place_of(old, cleaned, now).map_err(|it| self.home().health.failed(it))?;
        Ok(true)
    }

    fn take_place_of(
        &self,
        old: &[Arc<Segment>],
        cleaned: Arc<Segment>,
        now: TimestampMs,
    ) -> Result<(), LogError> {
        self.announce(&cleaned).inspect_err(|_| cleaned.remove(self.home().disk.as_ref()))?;
        {
            let mut writer = self.writer.lock();
            self.check_open(&writer)?;
            self.replace(&mut writer, old, cleaned, now).inspect_err(|error| {
                let cause = std::error::Error::source(error).map(ToString::to_string);
                tracing::error!(dir = %self.path().display(), %error, cause, "took a log offline: its cleaned segment is not in place, which the next start carries on");
                writer.state = State::Offline;
            })?;
        }
        self.sync_folder()?;
        self.remove_snapshots_of(old)
    }

    pub(super) fn holds(&self, old: &[Arc<Segment>]) -> bool {
        let segments = self.segments.load();
        let at = first_of(&segments, old);
        let found = segments.get(at..at + old.len()).unwrap_or_default();
        found.len() == old.len() && found.iter().zip(old).all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// From here on a start carries the change on. Under the lock, so that a folder that is being deleted is left alone.
    fn announce(&self, cleaned: &Segment) -> Result<(), LogError> {
        {
            let writer = self.writer.lock();
            self.check_open(&writer)?;
            cleaned.rename(|it| it.with_extension(file_name::SWAP_EXTENSION))?;
        }
        self.sync_folder()
    }

    fn replace(
        &self,
        writer: &mut Writer,
        old: &[Arc<Segment>],
        cleaned: Arc<Segment>,
        now: TimestampMs,
    ) -> Result<(), LogError> {
        let mut segments = self.segments.load().as_ref().clone();
        let at = first_of(&segments, old);
        segments.splice(at..at + old.len(), [Arc::clone(&cleaned)]);
        self.segments.store(Arc::new(segments));
        let due = self.deletion_due(now);
        for segment in old {
            writer.deleted.push((due, segment.mark_deleted()?));
            segment.close_if_unread();
        }
        cleaned.rename(|it| it.with_extension(""))?;
        cleaned.close_files();
        Ok(())
    }

    /// No segment begins there any more.
    fn remove_snapshots_of(&self, old: &[Arc<Segment>]) -> Result<(), LogError> {
        old.iter().skip(1).try_for_each(|segment| {
            let name = file_name::of(segment.base_offset, file_name::SNAPSHOT);
            let path = self.path().join(name);
            self.home().disk.remove(&path).map_err(LogError::storage("remove", &path))
        })
    }
}

fn first_of(segments: &[Arc<Segment>], old: &[Arc<Segment>]) -> usize {
    let base_offset = old.first().map_or(Offset(0), |it| it.base_offset);
    segments.partition_point(|it| it.base_offset < base_offset)
}

/// Carries on what a crash has interrupted, given the names in the folder; whether there was anything.
pub(in crate::log) fn complete_swaps(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    names: &[String],
) -> Result<bool, LogError> {
    let swap = format!("{}{}", file_name::LOG, file_name::SWAP);
    let announced: Vec<_> = names.iter().filter_map(|it| file_name::offset(it, &swap)).collect();
    for &base_offset in &announced {
        complete_swap(disk, dir, names, base_offset)?;
    }
    Ok(!announced.is_empty())
}

fn complete_swap(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    names: &[String],
    base_offset: Offset,
) -> Result<(), LogError> {
    let Some(last) = last_offset(disk, dir, base_offset)? else {
        return set_aside(disk.as_ref(), dir, base_offset);
    };
    tracing::info!(dir = %dir.display(), from = base_offset.0, to = last.0, "carries on the swap of a cleaned segment");
    let old = names.iter().filter(|name| {
        let offset = SUFFIXES.iter().find_map(|it| file_name::offset(name, it));
        offset.is_some_and(|it| it > base_offset && it <= last)
    });
    for name in old {
        rename(disk.as_ref(), dir, name, &format!("{name}{}", file_name::DELETED))?;
    }
    for suffix in SUFFIXES {
        let name = file_name::of(base_offset, suffix);
        let announced = format!("{name}{}", file_name::SWAP);
        if names.contains(&announced) {
            rename(disk.as_ref(), dir, &announced, &name)?;
        }
    }
    disk.sync_dir(dir).map_err(LogError::storage("fsync", dir))
}

/// The `.log` last: while it has its name, the others are looked for.
const SUFFIXES: [&str; 3] = [file_name::INDEX, file_name::TIME_INDEX, file_name::LOG];

fn rename(disk: &dyn Disk, dir: &Path, from: &str, to: &str) -> Result<(), LogError> {
    let from = dir.join(from);
    disk.rename(&from, &dir.join(to)).map_err(LogError::storage("rename", &from))
}

/// Of a cleaned segment; `None` if it is damaged, which only a failing disk does to what was fsynced.
fn last_offset(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    base_offset: Offset,
) -> Result<Option<Offset>, LogError> {
    let segment = Segment::named(disk, dir, base_offset, TimestampMs::default(), file_name::SWAP);
    let path = segment.log.path();
    let size = segment.log.get().and_then(|it| it.len());
    segment.set_size(size.map_err(LogError::storage("read", &path))?);
    let mut cursor = segment.cursor(0, LOOKUP_WINDOW_BYTES)?;
    let mut last = None;
    loop {
        match cursor.next() {
            Ok(Some(located)) => last = Some(located.header.last_offset()),
            Ok(None) => return Ok(last),
            Err(LogError::CorruptBatch { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// What it was made from is still there, or most of it.
fn set_aside(disk: &dyn Disk, dir: &Path, base_offset: Offset) -> Result<(), LogError> {
    let name = format!("{}{}", file_name::of(base_offset, file_name::LOG), file_name::SWAP);
    let path = dir.join(name);
    let aside = file_name::damaged(&path, 0);
    tracing::error!(
        segment = %path.display(), aside = %aside.display(),
        "a cleaned segment is damaged: it is set aside, and what it was made from stays"
    );
    disk.rename(&path, &aside).map_err(LogError::storage("rename", &path))
}
