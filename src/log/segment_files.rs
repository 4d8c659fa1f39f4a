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
    file::{Disk, LazyFile},
    file_name,
    segment::Segment,
};

impl Segment {
    /// Closes files that were not used since the last call.
    pub(super) fn close_if_idle(&self) {
        for file in self.files() {
            file.close_if_idle();
        }
    }

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

    /// Gives the files other names, the `.log` last; those that are not there yet are made.
    pub(super) fn rename(&self, name: impl Fn(&Path) -> PathBuf) -> Result<(), LogError> {
        self.files().into_iter().rev().try_for_each(|file| {
            let path = file.path();
            file.rename(name(&path)).map_err(LogError::storage("rename", &path))
        })
    }

    /// Makes the files, or empties those that are there.
    pub(super) fn clear(&self) -> Result<(), LogError> {
        self.files().into_iter().try_for_each(|file| {
            let cleared = file.get().and_then(|it| it.truncate(0));
            cleared.map_err(LogError::storage("truncate", &file.path()))
        })
    }

    /// Removes the files, the `.log` first; what cannot be removed stays.
    pub(super) fn remove(&self, disk: &dyn Disk) {
        for file in self.files() {
            // Ignored on purpose: the next start removes it.
            let _ = disk.remove(&file.path());
        }
    }

    /// Renames the files out of the way; readers that hold the segment go on. Returns where they are now. What failed half
    /// way is carried on by the next call.
    pub(super) fn mark_deleted(&self) -> Result<Vec<PathBuf>, LogError> {
        let mut renamed = Vec::new();
        for file in self.files() {
            let path = file.path();
            let to = file_name::deleted(&path);
            match file.rename(to.clone()) {
                // Taken away by hand: it is where it was to go.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => done.map_err(LogError::storage("rename", &path))?,
            }
            renamed.push(to);
        }
        Ok(renamed)
    }

    fn files(&self) -> [&LazyFile; 3] {
        [&self.log, self.offset_index.entries.file(), self.time_index.entries.file()]
    }
}
