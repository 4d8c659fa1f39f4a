//! What an unfinished change, or a hand, left in a partition's folder.
//!
//! Rule: what Klamm itself was about to remove is removed; anything else is kept aside and told.

use std::{collections::BTreeSet, io, path::Path, sync::Arc};

use super::{
    LogError,
    file::{Disk, LazyFile},
    file_name,
    offset_index::OffsetIndex,
    time_index::TimeIndex,
};
use crate::base::Offset;

/// The files of a segment beside its `.log`.
const INDEXES: [&str; 2] = [file_name::INDEX, file_name::TIME_INDEX];

/// Clears a folder, given the names in it. Returns the end of the records that are missing, as far as indexes without a `.log`
/// tell it.
pub(super) fn clear(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    names: &[String],
) -> Result<Offset, LogError> {
    let mut missing_end = Offset(0);
    // First: a `.log.deleted` tells that the indexes beside it were to go too.
    for base in without_log(names) {
        missing_end = missing_end.max(clear_indexes(disk, dir, names, base)?);
    }
    let mut left = names.iter().filter(|it| file_name::is_left_over(it));
    left.try_for_each(|it| remove(disk.as_ref(), dir, it))?;
    Ok(missing_end)
}

/// Base offsets of segments that have an index and no `.log`.
fn without_log(names: &[String]) -> BTreeSet<Offset> {
    let with = |suffix| names.iter().filter_map(move |it| file_name::offset(it, suffix));
    let logs: BTreeSet<_> = with(file_name::LOG).collect();
    INDEXES.into_iter().flat_map(with).filter(|it| !logs.contains(it)).collect()
}

fn clear_indexes(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    names: &[String],
    base: Offset,
) -> Result<Offset, LogError> {
    let log = file_name::of(base, file_name::LOG);
    let found =
        INDEXES.map(|it| file_name::of(base, it)).into_iter().filter(|it| names.contains(it));
    let was_to_go = [file_name::DELETED, file_name::REPLACED];
    if was_to_go.iter().any(|it| names.contains(&format!("{log}{it}"))) {
        found.into_iter().try_for_each(|it| remove(disk.as_ref(), dir, &it))?;
        return Ok(Offset(0));
    }
    tracing::error!(
        dir = %dir.display(), segment = log,
        "a segment's .log is missing, and its records with it: its indexes are kept aside"
    );
    let end =
        indexed_end(disk, dir, base).map_err(LogError::storage("read the indexes of", dir))?;
    for name in found {
        let path = dir.join(&name);
        disk.rename(&path, &file_name::orphan(&path))
            .map_err(LogError::storage("rename", &path))?;
    }
    Ok(end)
}

/// The offset after the last record that the indexes of a segment know of.
fn indexed_end(disk: &Arc<dyn Disk>, dir: &Path, base: Offset) -> io::Result<Offset> {
    let file = |suffix| LazyFile::new(disk, dir.join(file_name::of(base, suffix)));
    let offset_index = OffsetIndex::new(base, file(file_name::INDEX));
    let time_index = TimeIndex::new(base, file(file_name::TIME_INDEX));
    offset_index.entries.load()?;
    time_index.entries.load()?;
    let last = offset_index.last()?.map(|it| it.last_offset);
    let last = last.max(time_index.last()?.map(|it| it.offset));
    Ok(last.map_or(base, |it| it + 1))
}

fn remove(disk: &dyn Disk, dir: &Path, name: &str) -> Result<(), LogError> {
    let path = dir.join(name);
    disk.remove(&path).map_err(LogError::storage("remove", &path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::log::file::RealDisk;

    fn cleared(names: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(dir.path().join(name), b"x").unwrap();
        }
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        clear(&disk, dir.path(), &disk.list(dir.path()).unwrap()).unwrap();
        let mut left = RealDisk.list(dir.path()).unwrap();
        left.sort();
        left
    }

    #[test]
    fn indexes_without_their_log_are_kept_aside() {
        let left = cleared(&[
            "00000000000000000000.index",
            "00000000000000000000.timeindex",
            "00000000000000000007.index",
            "00000000000000000007.log",
        ]);
        assert_eq!(
            left,
            [
                "00000000000000000000.index.orphan",
                "00000000000000000000.timeindex.orphan",
                "00000000000000000007.index",
                "00000000000000000007.log",
            ]
        );
    }

    #[test]
    fn what_was_to_be_removed_is_removed() {
        let left = cleared(&[
            "00000000000000000000.log.deleted",
            "00000000000000000000.index",
            "00000000000000000000.timeindex.deleted",
            "00000000000000000007.snapshot.tmp",
            "00000000000000000007.log.90.damaged",
        ]);
        assert_eq!(left, ["00000000000000000007.log.90.damaged"]);
    }
}
