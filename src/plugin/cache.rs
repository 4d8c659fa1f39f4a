//! The cache of compiled components, in a folder that only the broker may write.
//!
//! It is wasmtime's own, which checks what it reads: a damaged or foreign entry is compiled anew. It never fails a
//! start; without it each start compiles.

use std::{fs, io, path::Path};

use wasmtime::{Cache, CacheConfig};

use super::failure::Chain;

/// `None`, with one WARN, for a folder that cannot be made or written.
pub(super) fn open(dir: &Path) -> Option<Cache> {
    usable(dir)
        .map_err(|error| error.to_string())
        .and_then(|()| in_folder(dir))
        .inspect_err(|error| {
            let dir = dir.display();
            tracing::warn!(%dir, error, "plugins are compiled at each start: their cache cannot be used");
        })
        .ok()
}

/// wasmtime's cache keeps silent about what it cannot write.
fn usable(dir: &Path) -> io::Result<()> {
    let probe = dir.join(".writable");
    fs::create_dir_all(dir)?;
    fs::write(&probe, b"")?;
    match fs::remove_file(probe) {
        // Another node that shares the folder was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn in_folder(dir: &Path) -> Result<Cache, String> {
    let dir = dir.canonicalize().map_err(|error| error.to_string())?;
    let mut config = CacheConfig::new();
    config.with_directory(dir);
    Cache::new(config).map_err(|error| Chain(&error).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_used_is_no_cache_and_no_failure() {
        let dir = tempfile::tempdir().expect("folder");
        assert!(open(&dir.path().join("made")).is_some());
        fs::write(dir.path().join("file"), b"x").expect("write");
        assert!(open(&dir.path().join("file")).is_none());
        assert!(open(&dir.path().join("file/below")).is_none());
    }
}
