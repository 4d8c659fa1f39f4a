//! One number for everything that a guest's component is made of.
//!
//! `tests/guests.rs` includes this file too: it must use nothing but the standard library and `sha2`.

use sha2::{Digest, Sha256};
use std::io::Result;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// SHA-256 over the sources of a guest, of the SDK and of their workspace, in lower-case hex. Files of
/// tests do not count, nor where the repository lies.
pub(crate) fn digest(root: &Path, folder: &Path) -> Result<String> {
    let mut files = Vec::new();
    for part in [folder, &root.join("plugins/sdk")] {
        files.push(part.join("Cargo.toml"));
        collect(&part.join("src"), &mut files)?;
    }
    for part in [folder, &root.join("plugins")] {
        files.extend(
            ["Cargo.toml", "Cargo.lock"]
                .map(|name| part.join(name))
                .into_iter()
                .filter(|p| p.exists()),
        );
    }
    files.sort();
    files.dedup();
    let mut hash = Sha256::new();
    for file in files {
        add(&mut hash, root, &file)?;
    }
    Ok(hex(&hash.finalize()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn add(hash: &mut Sha256, root: &Path, file: &Path) -> Result<()> {
    let name =
        file.strip_prefix(root).map_err(io::Error::other)?.to_string_lossy().replace('\\', "/");
    let content = fs::read(file)?;
    for part in [name.as_bytes(), &content] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    Ok(())
}
