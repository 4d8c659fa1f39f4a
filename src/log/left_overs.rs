//! What an unfinished change, or a hand, left in a partition's folder.
//!
//! Rule: what Klamm itself was about to remove is removed; anything else is kept aside and told.

use std::{collections::BTreeSet, path::Path};

use super::{LogError, file::Disk, file_name};
use crate::base::Offset;

/// The files of a segment beside its `.log`.
const INDEXES: [&str; 2] = [file_name::INDEX, file_name::TIME_INDEX];

/// Clears a folder, given the names in it.
pub(super) fn clear(disk: &dyn Disk, dir: &Path, names: &[String]) -> Result<(), LogError> {
    // First: a `.log.deleted` tells that the indexes beside it were to go too.
    for base in without_log(names) {
        clear_indexes(disk, dir, names, base)?;
    }
    names.iter().filter(|it| file_name::is_left_over(it)).try_for_each(|it| remove(disk, dir, it))
}

/// Base offsets of segments that have an index and no `.log`.
fn without_log(names: &[String]) -> BTreeSet<Offset> {
    let with = |suffix| names.iter().filter_map(move |it| file_name::offset(it, suffix));
    let logs: BTreeSet<_> = with(file_name::LOG).collect();
    INDEXES.into_iter().flat_map(with).filter(|it| !logs.contains(it)).collect()
}

fn clear_indexes(
    disk: &dyn Disk,
    dir: &Path,
    names: &[String],
    base: Offset,
) -> Result<(), LogError> {
    let log = file_name::of(base, file_name::LOG);
    let was_deleted = names.contains(&format!("{log}{}", file_name::DELETED));
    if !was_deleted {
        tracing::error!(
            dir = %dir.display(), segment = log,
            "a segment's .log is missing, and its records with it: its indexes are kept aside"
        );
    }
    for name in INDEXES.map(|suffix| file_name::of(base, suffix)) {
        if !names.contains(&name) {
            continue;
        }
        if was_deleted {
            remove(disk, dir, &name)?;
        } else {
            let path = dir.join(&name);
            disk.rename(&path, &file_name::orphan(&path))
                .map_err(LogError::storage("rename", &path))?;
        }
    }
    Ok(())
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
        clear(&RealDisk, dir.path(), &RealDisk.list(dir.path()).unwrap()).unwrap();
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
