//! A swap of a cleaned segment that a crash has interrupted: which names there are is told in `swap`.
//!
//! Rule: nothing goes before every batch of the cleaned segment was checked, and that it reaches as far as what it was made from.
//! If it does not, all of that gets its names back. Each step is such that a start that ends in it is carried on by the next one.

use std::{path::Path, sync::Arc};

use super::super::{
    LogError,
    cursor::{LOOKUP_WINDOW_BYTES, SCAN_WINDOW_BYTES},
    file::Disk,
    file_name,
    segment::Segment,
};
use crate::base::{Offset, TimestampMs};

/// The `.log` last: while it has its name, the others are looked for.
const SUFFIXES: [&str; 3] = [file_name::INDEX, file_name::TIME_INDEX, file_name::LOG];

/// Carries on what a crash has interrupted, given the names in the folder; whether there was anything.
pub(in crate::log) fn complete_swaps(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    names: &[String],
) -> Result<bool, LogError> {
    let swap = format!("{}{}", file_name::LOG, file_name::SWAP);
    let announced = names.iter().find_map(|it| file_name::offset(it, &swap));
    // There is one at most: a log is cleaned by one thread, and by none while it is opened.
    let Some(base_offset) = announced else { return Ok(false) };
    Interrupted { disk, dir, names, base_offset }.complete()?;
    Ok(true)
}

/// A folder with a cleaned segment that was announced and is not in its place.
struct Interrupted<'a> {
    disk: &'a Arc<dyn Disk>,
    dir: &'a Path,
    names: &'a [String],
    base_offset: Offset,
}

impl Interrupted<'_> {
    fn complete(&self) -> Result<(), LogError> {
        match self.last_offset()? {
            Some(last) if self.reaches(last)? => self.carry_on(last),
            _ => self.give_up(),
        }
    }

    fn carry_on(&self, last: Offset) -> Result<(), LogError> {
        let (dir, from) = (self.dir.display(), self.base_offset.0);
        tracing::info!(%dir, from, to = last.0, "carries on the swap of a cleaned segment");
        let replaced = self.names.iter().filter(|it| self.is_replaced(it, last));
        for name in replaced {
            self.rename(name, &format!("{name}{}", file_name::REPLACED))?;
        }
        self.sync()?;
        for name in SUFFIXES.map(|it| file_name::of(self.base_offset, it)) {
            let announced = format!("{name}{}", file_name::SWAP);
            if self.has(&announced) {
                self.rename(&announced, &name)?;
            }
        }
        self.sync()
    }

    /// Whether the cleaned segment, which ends with this offset, stands for this file.
    fn is_replaced(&self, name: &str, last: Offset) -> bool {
        let Some(offset) = SUFFIXES.iter().find_map(|it| file_name::offset(name, it)) else {
            return false;
        };
        // An index at its own offset may be its own, in its place already.
        let is_its_own = || !self.has(&format!("{name}{}", file_name::SWAP));
        offset >= self.base_offset
            && offset <= last
            && !(offset == self.base_offset && is_its_own())
    }

    /// Sets the cleaned segment aside, which only a failing disk damages: it was fsynced. What it was made from is all there.
    fn give_up(&self) -> Result<(), LogError> {
        for name in self.names {
            if let Some(in_place) = name.strip_suffix(file_name::REPLACED) {
                self.rename(name, in_place)?;
            }
        }
        self.sync()?;
        let log = file_name::of(self.base_offset, file_name::LOG);
        let path = file_name::swap(&self.dir.join(log));
        let aside = file_name::damaged(&path, 0);
        tracing::error!(
            segment = %path.display(), aside = %aside.display(),
            "a cleaned segment is damaged: it is set aside, and what it was made from stays"
        );
        self.disk.rename(&path, &aside).map_err(LogError::storage("rename", &path))
    }

    /// Whether the cleaned segment has all of what it was made from, the last batch of which always stays: a file may have been cut
    /// between two batches. Of what cannot be read nothing better is known.
    fn reaches(&self, last: Offset) -> Result<bool, LogError> {
        let bases = |suffix: &'static str| {
            let log = format!("{}{suffix}", file_name::LOG);
            self.names.iter().filter_map(move |it| Some((file_name::offset(it, &log)?, suffix)))
        };
        let before = bases("").chain(bases(file_name::REPLACED)).filter(|it| it.0 <= last);
        let Some((base, suffix)) = before.max_by_key(|it| it.0) else { return Ok(true) };
        let mut cursor = self.segment(base, suffix)?.cursor(0, LOOKUP_WINDOW_BYTES)?;
        loop {
            match cursor.next() {
                Ok(Some(it)) if it.header.last_offset() > last => return Ok(false),
                Ok(Some(_)) => {}
                Ok(None) | Err(LogError::CorruptBatch { .. }) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }

    /// Of the cleaned segment; `None` if it is damaged, or nothing is in it.
    fn last_offset(&self) -> Result<Option<Offset>, LogError> {
        let segment = self.segment(self.base_offset, file_name::SWAP)?;
        let mut cursor = segment.cursor(0, SCAN_WINDOW_BYTES)?;
        let (mut last, mut end) = (None, 0);
        while let Some(located) = cursor.next_whole()? {
            (last, end) = (Some(located.header.last_offset()), located.end());
        }
        Ok(last.filter(|_| end == segment.size()))
    }

    fn segment(&self, base: Offset, suffix: &str) -> Result<Segment, LogError> {
        let segment = Segment::named(self.disk, self.dir, base, TimestampMs::default(), suffix);
        let size = segment.log.get().and_then(|it| it.len());
        segment.set_size(size.map_err(LogError::storage("read", &segment.log.path()))?);
        Ok(segment)
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|it| it == name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), LogError> {
        let from = self.dir.join(from);
        self.disk.rename(&from, &self.dir.join(to)).map_err(LogError::storage("rename", &from))
    }

    fn sync(&self) -> Result<(), LogError> {
        self.disk.sync_dir(self.dir).map_err(LogError::storage("fsync", self.dir))
    }
}
