//! A guest's place in the repository: a crate of type `cdylib` in a folder of its name.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) struct Guest {
    /// Of its folder, its crate and its component.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// The committed component.
    pub(crate) component: PathBuf,
}

/// All guests of the repository, in order of their folders.
pub(crate) fn all(root: &Path) -> Result<Vec<Guest>> {
    let mut guests = Vec::new();
    for parent in ["plugins", "examples", "tests/guests"] {
        guests.extend(inside(&root.join(parent))?);
    }
    guests.sort_by(|one, other| one.folder.cmp(&other.folder));
    Ok(guests)
}

fn inside(parent: &Path) -> Result<Vec<Guest>> {
    let mut guests = Vec::new();
    for entry in fs::read_dir(parent).with_context(|| format!("read {}", parent.display()))? {
        let folder = entry?.path();
        if is_guest(&folder)? {
            guests.push(Guest::new(folder)?);
        }
    }
    Ok(guests)
}

/// The SDK is a library, and example configurations are no crates.
fn is_guest(folder: &Path) -> Result<bool> {
    let manifest = folder.join("Cargo.toml");
    if !manifest.exists() {
        return Ok(false);
    }
    let manifest: toml::Table = fs::read_to_string(&manifest)?.parse()?;
    let kinds =
        manifest.get("lib").and_then(|lib| lib.get("crate-type")).and_then(toml::Value::as_array);
    Ok(kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind.as_str() == Some("cdylib"))))
}

impl Guest {
    fn new(folder: PathBuf) -> Result<Self> {
        let name =
            folder.file_name().context("a folder without a name")?.to_string_lossy().into_owned();
        let component = folder.join(format!("{name}.wasm"));
        Ok(Self { name, folder, component })
    }
}
