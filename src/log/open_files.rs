//! How many files of segments are open, in all logs of the process, and which of them is closed for another.
//!
//! Rule: what was used since the hand came past last is spared once, as the "clock" of operating systems does; so what is closed
//! was not used for long. A file that somebody works with or is sent is not closed: it would stay open all the same.

use std::{
    collections::VecDeque,
    fs, io,
    sync::{
        Arc, LazyLock, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use rustix::io::Errno;

use super::file::{LazyState, OpenFile};

/// The limit is the process's, whatever the number of log directories.
static OF_THIS_PROCESS: LazyLock<Arc<OpenFiles>> = LazyLock::new(Arc::default);

/// Files that are looked at for room at a time: whoever opens one waits for no walk over all of them.
const LOOKED_AT_MAX: usize = 64;

/// Files that are closed for one that could not be opened.
const SPARE: usize = 16;

/// Below so many nobody looks for files that do not exist any more.
const SWEPT_AT_MIN: usize = 1024;

/// Files that were opened and may be closed again.
#[derive(Debug)]
pub struct OpenFiles {
    max: AtomicUsize,
    open: AtomicUsize,
    closed_for_room: AtomicU64,
    clock: Mutex<Clock>,
}

#[derive(Debug)]
struct Clock {
    /// Before the hand, in the order in which it comes to them. Each is there once, and leaves when it is found closed.
    files: VecDeque<Weak<Mutex<LazyState>>>,
    /// At so many, those that do not exist any more are taken out.
    swept_at: usize,
}

/// Which files may be closed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spare {
    /// Those that nobody has used since they were looked at last.
    Used,
    /// All that nobody holds.
    None,
}

/// One open file, counted until this is dropped.
#[derive(Debug)]
pub(super) struct Counted(Arc<OpenFiles>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for OpenFiles {
    /// Without a limit.
    fn default() -> Self {
        let clock = Clock { files: VecDeque::new(), swept_at: SWEPT_AT_MIN };
        Self {
            max: AtomicUsize::new(usize::MAX),
            open: AtomicUsize::new(0),
            closed_for_room: AtomicU64::new(0),
            clock: Mutex::new(clock),
        }
    }
}

impl OpenFiles {
    /// Those of this process.
    pub fn of_this_process() -> &'static Arc<Self> {
        &OF_THIS_PROCESS
    }

    /// How many descriptors this process holds, of whatever kind; `None` where the system does not tell.
    pub fn descriptors() -> Option<u64> {
        let open = fs::read_dir("/proc/self/fd").ok()?.count();
        // Less the one that they are counted with.
        u64::try_from(open).ok()?.checked_sub(1)
    }

    /// From now on so many are kept open at most, but for those that are in use at the same moment.
    pub fn set_max(&self, files: usize) {
        self.max.store(files, Ordering::Relaxed);
    }

    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// How many were closed so far because others had to be opened.
    pub fn closed_for_room(&self) -> u64 {
        self.closed_for_room.load(Ordering::Relaxed)
    }

    /// Closes what was not used since the last call.
    pub fn close_idle(&self) {
        self.close(usize::MAX, usize::MAX, Spare::Used);
    }

    /// Does what needs a file; if there is none to spare, once more after others were closed.
    pub(super) fn with_room<T>(&self, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match open() {
            Err(error) if is_want_of_files(&error) && self.spare_some() => open(),
            other => other,
        }
    }

    pub(super) fn count(self: &Arc<Self>) -> Counted {
        self.open.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(self))
    }

    /// Takes note of a file that was opened and is not known.
    pub(super) fn note(&self, file: &Arc<Mutex<LazyState>>) {
        let mut clock = self.clock.lock();
        clock.files.push_back(Arc::downgrade(file));
        if clock.files.len() >= clock.swept_at {
            clock.files.retain(|it| it.strong_count() > 0);
            clock.swept_at = SWEPT_AT_MIN.max(clock.files.len() * 2);
        }
    }

    /// Closes files as long as there are too many.
    pub(super) fn make_room(&self) {
        let surplus = self.open().saturating_sub(self.max.load(Ordering::Relaxed));
        if surplus > 0 {
            let closed = self.close(surplus, LOOKED_AT_MAX, Spare::Used);
            self.closed_for_room.fetch_add(closed as u64, Ordering::Relaxed);
        }
    }

    fn spare_some(&self) -> bool {
        let closed = self.close(SPARE, usize::MAX, Spare::None);
        self.closed_for_room.fetch_add(closed as u64, Ordering::Relaxed);
        closed > 0
    }

    /// Moves the hand past at most `looked_at_max` files, each once, and closes `max` of them at most; how many.
    fn close(&self, max: usize, looked_at_max: usize, spare: Spare) -> usize {
        let mut closed = Vec::new();
        let mut clock = self.clock.lock();
        for _ in 0..looked_at_max.min(clock.files.len()) {
            if closed.len() == max {
                break;
            }
            let Some(next) = clock.files.pop_front() else { break };
            match look(&next, spare) {
                Looked::Stays => clock.files.push_back(next),
                Looked::Gone => {}
                Looked::Closed(file) => closed.push(file),
            }
        }
        drop(clock);
        // Closed here: the last handle of a large file that was deleted takes its time to go.
        closed.len()
    }
}

/// What became of a file at which the hand came past.
enum Looked {
    Stays,
    /// It was closed before.
    Gone,
    Closed(OpenFile),
}

fn look(file: &Weak<Mutex<LazyState>>, spare: Spare) -> Looked {
    let Some(file) = file.upgrade() else { return Looked::Gone };
    // Somebody opens or renames it: it is in use. Nobody waits here, so that no two can wait for each other.
    let Some(mut state) = file.try_lock() else { return Looked::Stays };
    if !state.is_open() {
        state.is_known = false;
        return Looked::Gone;
    }
    let was_used = std::mem::take(&mut state.used);
    if was_used && spare == Spare::Used {
        return Looked::Stays;
    }
    let Some(open) = state.take_if_unheld() else { return Looked::Stays };
    state.is_known = false;
    Looked::Closed(open)
}

fn is_want_of_files(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(test)]
mod tests {
    use std::{io::IoSlice, path::Path};

    use super::*;
    use crate::log::{
        faulty::{Faults, FaultyDisk},
        file::{Disk, LazyFile},
    };

    /// Files that hold their number.
    fn files(dir: &Path, faults: &Arc<Faults>, count: u8) -> Vec<LazyFile> {
        let disk: Arc<dyn Disk> = Arc::new(FaultyDisk(Arc::clone(faults)));
        let file = |at: u8| {
            let file = LazyFile::new(&disk, dir.join(format!("{at}.log")));
            file.get().unwrap().write_all_at(&mut [IoSlice::new(&[at])], 0).unwrap();
            file
        };
        (0..count).map(file).collect()
    }

    fn check(file: &LazyFile, want: u8) {
        let mut byte = [0];
        file.get().unwrap().read_exact_at(&mut byte, 0).unwrap();
        assert_eq!(byte, [want]);
    }

    #[test]
    fn no_more_files_are_open_than_may_be_and_all_can_be_read() {
        let (dir, faults) = (tempfile::tempdir().unwrap(), Faults::none());
        faults.open_files.set_max(10);
        let files = files(dir.path(), &faults, 200);
        for at in (0..200).chain((0..200).rev()) {
            check(&files[usize::from(at)], at);
            // A few more, for as long as all of them were used since the hand came past.
            assert!(faults.open_files.open() <= 12);
        }
        assert!(faults.take_most_open() <= 13);
        drop(files);
        assert_eq!(faults.open_files.open(), 0);
    }

    #[test]
    fn what_is_used_all_the_time_stays_open() {
        let (dir, faults) = (tempfile::tempdir().unwrap(), Faults::none());
        faults.open_files.set_max(4);
        let files = files(dir.path(), &faults, 50);
        check(&files[0], 0);
        let operations = |use_it: &dyn Fn()| {
            let before = faults.operations();
            use_it();
            faults.operations() - before
        };
        for file in (1..).zip(&files[1..]) {
            check(file.1, file.0);
            assert_eq!(operations(&|| check(&files[0], 0)), 1, "a read, and no open");
        }
    }

    #[test]
    fn what_somebody_holds_is_not_closed() {
        let (dir, faults) = (tempfile::tempdir().unwrap(), Faults::none());
        faults.open_files.set_max(2);
        let files = files(dir.path(), &faults, 8);
        let held: Vec<_> = files.iter().map(|it| it.get().unwrap()).collect();
        assert_eq!(faults.open_files.open(), 8);
        drop(held);
        check(&files[0], 0);
        faults.open_files.close_idle();
        faults.open_files.close_idle();
        assert_eq!(faults.open_files.open(), 0);
    }

    #[test]
    fn who_finds_no_file_to_spare_gets_that_of_another() {
        let (dir, faults) = (tempfile::tempdir().unwrap(), Faults::none());
        let files = files(dir.path(), &faults, 20);
        let open_files = &faults.open_files;
        let open = || if open_files.open() < 20 { Ok(()) } else { Err(Errno::MFILE.into()) };
        open_files.with_room(open).unwrap();
        assert_eq!(open_files.closed_for_room(), SPARE as u64);
        drop(files);
        let refused = open_files.with_room(|| Err::<(), _>(Errno::MFILE.into()));
        assert!(is_want_of_files(&refused.unwrap_err()), "there is none to close");
    }

    #[test]
    fn files_that_are_no_more_are_forgotten() {
        let (dir, faults) = (tempfile::tempdir().unwrap(), Faults::none());
        for _ in 0..3 * SWEPT_AT_MIN {
            files(dir.path(), &faults, 1);
        }
        assert!(faults.open_files.clock.lock().files.len() <= SWEPT_AT_MIN);
    }
}
