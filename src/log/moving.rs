//! A copy takes the place of a log (KIP-113), against a crash at any moment.
//!
//! | old folder      | new folder                              | a start takes for the log                           |
//! |-----------------|-----------------------------------------|-----------------------------------------------------|
//! | `t-0`           | `t-0.UUID-future`                       | the old one; the copy begins anew                   |
//! | `t-0`           | `t-0`, with `klamm.moving` in it        | the old one, as nothing was appended since          |
//! | `t-0.UUID-delete` | `t-0`, with `klamm.moving` in it      | the new one                                         |
//! | –               | `t-0`                                   | the new one                                         |
//!
//! Rule: nothing is appended between the first rename and the moment when both are on disk. So there is never a doubt which folder
//! has all records: a start that finds the new one marked believes it only where the old one is surely gone.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::MutexGuard;

use super::{
    FutureLog, Log, LogError,
    file::Disk,
    file_name,
    future::MOVING,
    home::Home,
    log::{State, Writer},
    segment::Segment,
};

/// Read and written at a time while appends wait, however much that is in all.
const STEP_BYTES: usize = 1024 * 1024;

/// A log that is not compacted while this is held.
#[derive(Debug)]
pub struct Pause<'a> {
    _busy: MutexGuard<'a, ()>,
}

/// What became of a try to put a copy in its log's place.
#[derive(Debug)]
pub enum Moved {
    /// The log lies there now.
    There(LeftFolder),
    /// More has to be copied first.
    NotYet(FutureLog),
    /// The log stays where it is.
    Failed(FutureLog, LogError),
    /// Nobody knows whether the old folder is gone: the log is offline until the next start, which looks.
    Undecided,
}

/// What a log has left behind; to be removed when it is convenient.
#[derive(Debug)]
pub struct LeftFolder {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    /// What a start has set aside in it stays.
    keeps_set_aside: bool,
    marker: (Arc<dyn Disk>, PathBuf),
}

impl LeftFolder {
    /// Removes it; what cannot be removed is removed by the next start.
    pub fn remove(self) {
        let (disk, marker) = &self.marker;
        if let Err(error) = disk.remove(marker).and_then(|()| self.remove_files()) {
            tracing::warn!(dir = %self.dir.display(), %error, "could not remove what a moved log has left: the next start does");
        }
    }

    fn remove_files(&self) -> io::Result<()> {
        if !self.keeps_set_aside {
            return self.disk.remove_dir_all(&self.dir);
        }
        tracing::warn!(dir = %self.dir.display(), "kept what was set aside of a log that was moved");
        let names = self.disk.list(&self.dir)?;
        let mut others = names.iter().filter(|it| !file_name::is_set_aside(it));
        others.try_for_each(|it| self.disk.remove(&self.dir.join(it)))
    }
}

impl Log {
    /// Waits for a round of the cleaner to end, for so long at most.
    pub fn pause_cleaning(&self, longest: Duration) -> Option<Pause<'_>> {
        self.cleaned.busy.try_lock_for(longest).map(|it| Pause { _busy: it })
    }

    /// Has the copy take this log's place, if no more than `bytes_max` are missing in it: appends wait meanwhile, reads do not.
    pub fn move_to(&self, mut future: FutureLog, bytes_max: u64) -> Moved {
        // In this order: retention may take its time, and who waits for an fsync does not wait for it.
        let _set = self.segment_set.lock();
        let _relocation = self.relocation.write();
        let mut writer = self.writer.lock();
        match self.complete(&writer, &mut future, bytes_max) {
            Ok(true) => self.swap_folders(&mut writer, future),
            Ok(false) => Moved::NotYet(future),
            Err(error) => Moved::Failed(future, error),
        }
    }

    /// Copies what is left, and brings to the disk there what is on it here. `false` if that is too much.
    fn complete(
        &self,
        writer: &Writer,
        future: &mut FutureLog,
        bytes_max: u64,
    ) -> Result<bool, LogError> {
        self.check_open(writer)?;
        if future.missing_bytes(self) > bytes_max {
            return Ok(false);
        }
        while future.copy_more(self, STEP_BYTES)? > 0 {}
        let epochs = writer.epochs.copy_of(&future.disk, &future.dir);
        future.keep_epochs(epochs).map_err(|it| future.failed(it))?;
        if self.flushed.synced().max(writer.recovery_point) > future.synced {
            future.sync_copies().map_err(|it| future.health.failed(it))?;
        }
        Ok(true)
    }

    fn swap_folders(&self, writer: &mut Writer, mut future: FutureLog) -> Moved {
        if let Err(error) = take_place(&mut future) {
            return Moved::Failed(future, error);
        }
        let old = self.segments.swap(Arc::new(future.segments()));
        let (home, dir) = (self.home.load_full(), self.path());
        let (left, keeps_set_aside) = match leave(&home, &dir, &old) {
            Ok(left) => left,
            Err(error) => {
                self.segments.store(old);
                step_back(&mut future);
                return Moved::Failed(future, home.health.failed(error));
            }
        };
        if let Err(error) = sync_parent(home.disk.as_ref(), &dir) {
            writer.state = State::Offline;
            let error = home.health.failed(error);
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            tracing::error!(dir = %dir.display(), %error, cause, "took a log offline: it is in two log directories until the next start, which looks");
            return Moved::Undecided;
        }
        let marker = (Arc::clone(&future.disk), future.dir.join(MOVING));
        self.settle(writer, future);
        let disk = Arc::clone(&home.disk);
        Moved::There(LeftFolder { disk, dir: left, keeps_set_aside, marker })
    }

    /// From now on this log is what its copy was.
    fn settle(&self, writer: &mut Writer, future: FutureLog) {
        let FutureLog { disk, health, dir, epochs, .. } = future;
        *self.dir.lock() = dir;
        self.home.store(Arc::new(Home { disk, health }));
        if let Some(epochs) = epochs {
            writer.epochs = epochs;
        }
        // They go with the folder.
        writer.deleted.clear();
        let active = self.active();
        self.marks.lock().set_end(&active, self.log_end_offset(), active.size());
    }
}

/// Renames the copy's folder to the log's name, for good.
fn take_place(future: &mut FutureLog) -> Result<(), LogError> {
    let (from, to) = (future.dir.clone(), future.place.clone());
    let renamed = future.disk.rename(&from, &to).map_err(LogError::storage("rename", &from));
    renamed.map_err(|it| future.health.failed(it))?;
    future.renamed_to(&to);
    sync_parent(future.disk.as_ref(), &to).map_err(|error| {
        step_back(future);
        future.health.failed(error)
    })
}

/// The log stays where it was. Where this fails, a start finds the folder marked beside the log's own one.
fn step_back(future: &mut FutureLog) {
    let name = future.place.file_name().unwrap_or_default().to_string_lossy();
    let to = future.place.with_file_name(file_name::out_of_the_way(&name, file_name::FUTURE));
    if future.disk.rename(&future.place, &to).is_ok() {
        future.renamed_to(&to);
    }
}

/// Renames the log's old folder out of the way, for those who still read there; returns its name, and whether it holds what a
/// start has set aside.
fn leave(home: &Home, dir: &Path, old: &[Arc<Segment>]) -> Result<(PathBuf, bool), LogError> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let names = home.disk.list(dir).map_err(LogError::storage("list", dir))?;
    let keeps_set_aside = names.iter().any(|it| file_name::is_set_aside(it));
    let why = if keeps_set_aside { file_name::STRAY } else { file_name::DELETE };
    let to = dir.with_file_name(file_name::out_of_the_way(&name, why));
    // Besides this list and the copy, somebody has it, and may be about to look into it.
    let is_used = |it: &&Arc<Segment>| Arc::strong_count(it) > 2;
    old.iter().filter(is_used).for_each(|it| it.hold_open());
    home.disk.rename(dir, &to).map_err(LogError::storage("rename", dir))?;
    for segment in old {
        segment.moved_to(&to);
    }
    Ok((to, keeps_set_aside))
}

fn sync_parent(disk: &dyn Disk, dir: &Path) -> Result<(), LogError> {
    let parent = dir.parent().unwrap_or(dir);
    disk.sync_dir(parent).map_err(LogError::storage("fsync", parent))
}
