//! The files of a segment as one thing: closed, renamed, emptied, removed together.
//!
//! Rule: the `.log` tells how far a change has come: it is the last to get a new name, and the first to go.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    LogError,
    file::{Disk, File, LazyFile},
    file_name,
    segment::Segment,
};

impl Segment {
    /// Closes the files of one that was taken out of its log, if the caller alone still has it: many may go at once.
    pub(super) fn close_if_unread(self: &Arc<Self>) {
        if Arc::strong_count(self) == 1 {
            self.close_files();
        }
    }

    /// Opens the files for whoever still reads them: they are about to go.
    pub(super) fn hold_open(&self) {
        for file in self.files() {
            // Without a file to spare, a read that comes later fails.
            let _ = file.get();
        }
    }

    pub(super) fn close_files(&self) {
        for file in self.files() {
            file.close();
        }
    }

    /// The folder was renamed.
    pub(super) fn moved_to(&self, dir: &Path) {
        for file in self.files() {
            file.moved_to(dir);
        }
    }

    /// Gives the files other names, the `.log` last.
    pub(super) fn rename(&self, name: impl Fn(&Path) -> PathBuf) -> Result<(), LogError> {
        self.files().into_iter().rev().try_for_each(|file| {
            let path = file.path();
            file.rename(name(&path)).map_err(LogError::storage("rename", &path))
        })
    }

    /// Makes the files, or empties those that are there. They stay open for as long as what this returns is held.
    pub(super) fn clear(&self) -> Result<Vec<Arc<dyn File>>, LogError> {
        let clear = |file: &LazyFile| {
            let cleared = file.get().and_then(|it| it.truncate(0).map(|()| it));
            cleared.map_err(LogError::storage("truncate", &file.path()))
        };
        self.files().into_iter().map(clear).collect()
    }

    /// Removes the files, the `.log` first; whether all are gone.
    pub(super) fn remove(&self, disk: &dyn Disk) -> bool {
        let removed = self.files().map(|it| disk.remove(&it.path()));
        removed.iter().all(Result::is_ok)
    }

    /// Renames the files out of the way, opening them before: readers that hold the segment go on when they are gone. (Without a file to
    /// spare for that, a reader that comes later fails.) Returns where they are now. What failed half way is carried on by the next call.
    pub(super) fn mark_deleted(&self) -> Result<Vec<PathBuf>, LogError> {
        for file in self.files() {
            let _ = file.get();
        }
        self.put(file_name::deleted)
    }

    /// As [`Segment::rename`], of files that a hand may have taken away: where they were to go, they are.
    pub(super) fn put(&self, name: fn(&Path) -> PathBuf) -> Result<Vec<PathBuf>, LogError> {
        let mut renamed = Vec::new();
        for file in self.files() {
            let path = file.path();
            let to = name(&path);
            match file.rename(to.clone()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => done.map_err(LogError::storage("rename", &path))?,
            }
            renamed.push(to);
        }
        Ok(renamed)
    }

    /// Where the files are.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.files().map(LazyFile::path).to_vec()
    }

    fn files(&self) -> [&LazyFile; 3] {
        [&self.log, self.offset_index.entries.file(), self.time_index.entries.file()]
    }
}
