//! The folder `__cluster_metadata-0`: which files it holds, and how one is replaced without a moment at which neither the old
//! nor the new one is whole.

use std::{
    fs::{self, File, TryLockError},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

/// The files of a member.
#[derive(Clone, Debug)]
pub(super) struct Files {
    dir: PathBuf,
}

impl Files {
    pub(super) fn of(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Makes the folder if there is none.
    pub(super) fn open(dir: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&dir).map_err(at(&dir))?;
        if let Some(parent) = dir.parent().filter(|it| !it.as_os_str().is_empty()) {
            sync_dir(parent)?;
        }
        Ok(Self::of(dir))
    }

    /// Held as long as the file is open.
    pub(super) fn lock(&self) -> io::Result<File> {
        let path = self.dir.join(".lock");
        let file = File::create(&path).map_err(at(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(io::Error::new(
                ErrorKind::ResourceBusy,
                format!("{} is in use by another process", self.dir.display()),
            )),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub(super) fn log(&self) -> PathBuf {
        self.dir.join("quorum.log")
    }

    pub(super) fn vote(&self) -> PathBuf {
        self.dir.join("quorum.vote")
    }

    pub(super) fn snapshot(&self) -> PathBuf {
        self.dir.join("quorum.snapshot")
    }

    /// There from a clean stop to the next write.
    pub(super) fn end(&self) -> PathBuf {
        self.dir.join("quorum.end")
    }

    /// For what is cut off the log at `position`.
    pub(super) fn damaged(&self, position: usize) -> PathBuf {
        self.dir.join(format!("quorum.log.{position}.damaged"))
    }

    /// Whether a member was here before.
    pub(super) fn any(&self) -> bool {
        [self.log(), self.vote(), self.snapshot(), self.end()].iter().any(|it| it.exists())
    }

    /// `None` when there is no such file.
    pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(at(path)(error)),
        }
    }

    /// Replaces a file as a whole and returns when that is durable; a crash leaves the old or the new one.
    pub(super) fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<File> {
        // One of its own: snapshot and log are replaced by two threads.
        let mut new = path.as_os_str().to_owned();
        new.push(".tmp");
        let new = PathBuf::from(new);
        let file = write_new(&new, bytes).inspect_err(|_| {
            // Half a file would take room on a disk that is full.
            let _ = fs::remove_file(&new);
        });
        let file = file.map_err(at(&new))?;
        fs::rename(&new, path).map_err(at(path))?;
        sync_dir(&self.dir)?;
        Ok(file)
    }

    /// Removes a file and returns when that is durable.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path).map_err(at(path))?;
        sync_dir(&self.dir)
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(file)
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir).and_then(|it| it.sync_all()).map_err(at(dir))
}

/// Says which file it was.
pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    let path = path.to_owned();
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
