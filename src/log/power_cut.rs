//! What of a disk survives a power cut, for tests: what was fsynced, and no more.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// What an fsync has brought to the disk. Records and names alone: of other files all is kept.
#[derive(Debug, Default)]
pub(super) struct Durable {
    /// Bytes of each `.log`.
    lengths: BTreeMap<PathBuf, u64>,
    /// Those of them whose folder was not fsynced since they were made.
    nameless: BTreeSet<PathBuf>,
    /// From and to, in folders that were not fsynced since; those that replaced no file.
    renames: Vec<(PathBuf, PathBuf)>,
}

impl Durable {
    /// A `.log`.
    pub(super) fn opened(&mut self, path: &Path, is_new: bool, length: u64) {
        self.lengths.entry(path.to_owned()).or_insert(length);
        if is_new {
            self.nameless.insert(path.to_owned());
        }
    }

    /// A `.log`.
    pub(super) fn synced(&mut self, path: &Path, length: u64) {
        self.lengths.insert(path.to_owned(), length);
    }

    /// A file or a folder.
    pub(super) fn renamed(&mut self, from: &Path, to: &Path) {
        if !to.exists() {
            self.renames.push((from.to_owned(), to.to_owned()));
        }
        self.moved(from, to);
    }

    pub(super) fn synced_folder(&mut self, path: &Path) {
        self.nameless.retain(|it| it.parent() != Some(path));
        self.renames.retain(|it| it.0.parent() != Some(path));
    }

    /// What is known of a file, or of all in a folder, is known of its new name.
    fn moved(&mut self, from: &Path, to: &Path) {
        // Another file has its name now.
        self.lengths.remove(to);
        let renamed = |path: PathBuf| match path.strip_prefix(from) {
            Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
            Ok(rest) => to.join(rest),
            Err(_) => path,
        };
        let lengths = std::mem::take(&mut self.lengths).into_iter();
        self.lengths = lengths.map(|(path, length)| (renamed(path), length)).collect();
        self.nameless = std::mem::take(&mut self.nameless).into_iter().map(renamed).collect();
    }

    /// Takes everything else away.
    pub(super) fn cut_the_power(&mut self) {
        for (from, to) in std::mem::take(&mut self.renames).into_iter().rev() {
            if to.exists() && !from.exists() {
                fs::rename(&to, &from).unwrap();
                self.moved(&to, &from);
            }
        }
        for (path, &length) in &self.lengths {
            let Ok(file) = fs::OpenOptions::new().write(true).open(path) else { continue };
            if self.nameless.contains(path) {
                fs::remove_file(path).unwrap();
            } else if file.metadata().unwrap().len() > length {
                file.set_len(length).unwrap();
            }
        }
    }
}
