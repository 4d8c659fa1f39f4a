//! Folders of the configuration that cannot be what they should: files, and folders below files.

use std::path::{Path, PathBuf};

/// Why a path cannot be a folder, also when it is not there yet. What only the rights of the process forbid is found
/// when it is used.
pub(super) fn no_folder(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = path.ancestors().find(|it| it.symlink_metadata().is_ok())?;
    match there.metadata() {
        Ok(metadata) if metadata.is_dir() => None,
        Ok(_) => Some(format!("{} is a file, not a folder", there.display())),
        Err(error) => Some(format!("{} leads nowhere: {error}", there.display())),
    }
}

/// The same path for all ways of writing it, also when its end is not there yet.
pub(super) fn plain(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = path.ancestors().find_map(|there| {
        let rest = path.strip_prefix(there).ok()?;
        Some(there.canonicalize().ok()?.join(rest))
    });
    real.unwrap_or(path)
}

/// Whether `inner` is `outer` or lies in it.
pub(super) fn is_within(inner: &Path, outer: &Path) -> bool {
    plain(inner).starts_with(plain(outer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_folder_nor_is_what_lies_below_it() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, b"x").unwrap();
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert_eq!(no_folder(dir.path()), None);
        assert_eq!(no_folder(&dir.path().join("not/there/yet")), None);
        assert!(no_folder(&file).unwrap().ends_with("is a file, not a folder"));
        assert!(no_folder(&file.join("below")).unwrap().ends_with("is a file, not a folder"));
        assert!(no_folder(&link).unwrap().contains("leads nowhere"));
    }

    #[test]
    fn a_folder_lies_in_another_whatever_link_leads_there() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(is_within(&link.join("not/there"), &real));
        assert!(is_within(&real, &link));
        assert!(!is_within(dir.path(), &real));
        assert!(!is_within(&dir.path().join("really"), &real));
    }
}
